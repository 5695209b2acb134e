"""Programs of the user's as model services: alone, silent, and never recorded by us."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.projects import excluded, place_of
from claude_mem_core.providing import programs
from claude_mem_core.settings import CORE

DEFAULTS = {setting.key: setting.default for setting in CORE}


def test_its_folder_is_ours_and_nothing_there_is_recorded(tmp_path: Path) -> None:
    data = tmp_path / "data"
    folder = programs.own_folder({"CLAUDE_MEM_DATA_DIR": str(data)}, "some-agent")
    below = folder / "home-x" / "work"
    below.mkdir(parents=True)
    assert folder == data / "observer" / "some-agent"
    assert folder.stat().st_mode & 0o777 == 0o700
    for cwd in (folder, below):
        place = place_of(str(cwd), DEFAULTS, str(tmp_path))
        assert excluded(place, str(cwd), DEFAULTS)
    elsewhere = tmp_path / "project"
    elsewhere.mkdir()
    assert not excluded(
        place_of(str(elsewhere), DEFAULTS, str(tmp_path)), str(elsewhere), DEFAULTS
    )


def test_the_environment_is_bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "OPENAI_API_KEY",
        "ANTHROPIC_BASE_URL",
        "PYTHONPATH",
        "HTTPS_PROXY",
        "LD_PRELOAD",
    ):
        monkeypatch.setenv(name, "planted")
    env = programs.bare_environment({"CLAUDE_MEM_HTTP_PROXY": "http://proxy:1"}, EXTRA="x")
    assert "planted" not in env.values()
    assert (env["EXTRA"], env["HTTPS_PROXY"]) == ("x", "http://proxy:1")
    assert env["CLAUDE_MEM_DISABLE_SUMMARY"] == "1"
    assert env["PATH"]


def ran(tmp_path: Path, code: str, told: str = "") -> programs.Ran:
    argv = [sys.executable, "-c", code]
    return anyio.run(programs.run, argv, told, {}, tmp_path)


def test_what_it_is_told_and_what_it_says(tmp_path: Path) -> None:
    code = (
        "import sys; t = sys.stdin.read(); print(t[::-1]); sys.stderr.write('hm'); sys.exit(3)"
    )
    said = ran(tmp_path, code, "abc" * 200_000)
    assert said.out.decode().strip() == "cba" * 200_000
    assert (said.err, said.code) == ("hm", 3)


def test_one_that_does_not_listen(tmp_path: Path) -> None:
    said = ran(tmp_path, "print('done')", "x" * 5_000_000)
    assert said.out.strip() == b"done"


def test_one_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ProviderError) as caught:
        anyio.run(programs.run, [str(tmp_path / "none")], "", {}, tmp_path)
    assert caught.value.failure is Failure.OUTAGE
