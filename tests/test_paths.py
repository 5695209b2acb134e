"""Where the data directory is: whole paths only, and a home that can be relied on."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from claude_mem_core.edge import recorded_environment
from claude_mem_core.errors import UsageError
from claude_mem_core.paths import data_dir, home_dir

RECORDED = Path(pwd.getpwuid(os.getuid()).pw_dir)


@pytest.mark.parametrize("named", ["mem", "./mem", "../mem", " ", "~nobody-of-that-name/mem"])
def test_a_relative_data_directory_is_refused(named: str) -> None:
    with pytest.raises(UsageError, match="relative path") as refused:
        data_dir({"HOME": "/home/u", "CLAUDE_MEM_DATA_DIR": named})
    assert f"CLAUDE_MEM_DATA_DIR={os.path.abspath(named)}" in str(refused.value)


@pytest.mark.parametrize(
    ("env", "place"),
    [
        ({"HOME": "/home/u"}, "/home/u/.claude-mem"),
        ({"HOME": "/home/u", "CLAUDE_MEM_DATA_DIR": ""}, "/home/u/.claude-mem"),
        ({"HOME": "/home/u", "CLAUDE_MEM_DATA_DIR": "~/mem"}, "/home/u/mem"),
        ({"HOME": "/home/u", "CLAUDE_MEM_DATA_DIR": "/srv/mem"}, "/srv/mem"),
        ({}, f"{RECORDED}/.claude-mem"),
        ({"HOME": ""}, f"{RECORDED}/.claude-mem"),
        ({"HOME": "here"}, f"{RECORDED}/.claude-mem"),
    ],
)
def test_the_data_directory(env: dict[str, str], place: str) -> None:
    assert data_dir(env) == Path(place)


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    with pytest.raises(UsageError, match="export CLAUDE_MEM_DATA_DIR="):
        home_dir({})
    assert data_dir({"CLAUDE_MEM_DATA_DIR": "/srv/mem"}) == Path("/srv/mem")
    assert recorded_environment({})["HOME"] == "/"


def test_commands_and_hooks_with_a_relative_one(tmp_path: Path) -> None:
    def run(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "claude_mem_core.cli.main", *args], input="{}", text=True,
            env={**os.environ, "CLAUDE_MEM_DATA_DIR": "mem"}, cwd=tmp_path,
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip

    done = run("status")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("mem: CLAUDE_MEM_DATA_DIR is the relative path 'mem'")
    hook = run("hook", "claude-code", "Stop")
    assert (hook.returncode, hook.stdout) == (0, "")
    assert hook.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_empty_home_is_no_working_directory(tmp_path: Path) -> None:
    """Nothing is looked for, or written, in the directory that `mem` happens to run in."""
    code = (
        "from claude_mem_core.cli.install.hosts import setup_for;"
        "from claude_mem_core.paths import Paths, data_dir;"
        "print(setup_for(Paths(data_dir()), ()).home)"
    )
    env = {**os.environ, "HOME": ""}
    env.pop("CLAUDE_MEM_DATA_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, cwd=tmp_path, capture_output=True, text=True,
        timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == str(RECORDED)
