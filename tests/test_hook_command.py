"""`mem hook`: the installed client, in a fresh directory too."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_core.edge import hook_faults, install_hook
from claude_mem_core.paths import Paths
from tests.hook_home import NOTHING_STARTS, HookHome, environment, stand_in

MEM = [sys.executable, "-m", "claude_mem_core.cli.main"]
EVENT = b'{"session_id": "s1", "prompt": "hello <private>x</private>"}'


@pytest.fixture
def data() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="mem"))
    yield folder / "d"
    shutil.rmtree(folder)


def mem_hook(
    data: Path, *words: str, stdin: bytes = EVENT
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*MEM, "hook", *words], input=stdin, capture_output=True, timeout=60, check=False,
        env=environment({"CLAUDE_MEM_DATA_DIR": str(data)}),
    )  # fmt: skip


def home_at(data: Path) -> HookHome:
    """An installed hook whose worker can't be started."""
    home = HookHome(Paths(data), install_hook(Paths(data)))
    home.worker_is(NOTHING_STARTS)
    return home


def test_it_is_the_installed_client(data: Path) -> None:
    home = home_at(data)
    with stand_in(home, b"said") as worker:
        done = mem_hook(data, "kimi", "Stop")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"said", b"")
    (request,) = worker.requests
    assert (request.headers["x-mem-host"], request.body) == ("kimi", EVENT)


def test_without_a_worker_the_event_is_kept_clean(data: Path) -> None:
    home = home_at(data)
    done = mem_hook(data, "claude-code", "PostToolUse")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert home.body()["prompt"] == "hello "


def test_a_fresh_directory_gets_what_it_needs(data: Path) -> None:
    # A folder without this file's rights to write a database: no worker comes up.
    done = mem_hook(data, "claude-code", "Notification", stdin=b"")
    try:
        assert (done.returncode, done.stderr) == (0, b"")
        assert hook_faults(Paths(data)) == []
        assert Paths(data).worker_argv.exists()
    finally:
        stop(data)


def stop(data: Path) -> None:
    """Let the worker that the hook has started go."""
    end = time.monotonic() + 20
    while not Paths(data).socket.exists() and time.monotonic() < end:
        time.sleep(0.05)
    subprocess.run(
        [*MEM, "stop"], env=environment({"CLAUDE_MEM_DATA_DIR": str(data)}), timeout=60,
        capture_output=True, check=False,
    )  # fmt: skip


def test_odd_words_are_no_reason_to_fail(data: Path) -> None:
    home_at(data)
    for words in (["claude-code"], ["claude-code", "--odd"], ["x", "y", "z"], ["a", "\udcff"]):
        done = mem_hook(data, *words)
        assert (done.returncode, done.stderr) == (0, b"")


def test_without_words_it_says_what_is_missing(data: Path) -> None:
    done = mem_hook(data)
    assert done.returncode == 2
    assert b"mem hook claude-code Stop" in done.stderr


def test_a_directory_that_can_not_be_used_is_one_line(data: Path) -> None:
    data.parent.chmod(0o777)
    done = mem_hook(data, "claude-code", "Stop")
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith(b"claude-mem: others may write in")
    assert done.stderr.count(b"\n") == 1
    data.parent.chmod(0o700)


def test_it_loads_little(data: Path) -> None:
    home_at(data)
    argv = [sys.executable, "-X", "importtime", *MEM[1:], "hook", "claude-code", "Stop"]
    env = environment({"CLAUDE_MEM_DATA_DIR": str(data)})
    done = subprocess.run(argv, input=EVENT, capture_output=True, env=env, check=False)
    names = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    heavy = {"asyncio", "apsw", "starlette", "uvicorn", "pluggy", "cattrs", "anyio", "keyring"}
    assert not names & heavy
    assert "claude_mem_core.edge.present" in names
    assert "claude_mem_core.types" not in names


def test_the_record_is_valid_json(data: Path) -> None:
    home = home_at(data)
    mem_hook(data, "claude-code", "PostToolUse", stdin=json.dumps({"a": "\ud800"}).encode())
    assert home.body() == {"a": "\ud800"}
    assert os.listdir(home.paths.spool)
