"""Where the memory is on: per folder, and only where it was switched on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.worker_home import Home, home, until

WORD = "WHERE-MARKER"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Home]:
    with home() as found:
        found.install()
        for name in ("on", "other", "on-too"):
            (tmp_path / name).mkdir()
        yield found


def say(made: Home, folder: Path, text: str) -> None:
    payload = {
        "session_id": f"s-{folder.name}", "cwd": str(folder), "transcript_path": "",
        "hook_event_name": "UserPromptSubmit", "prompt": text,
    }  # fmt: skip
    made.hook("UserPromptSubmit", payload)


def holds(made: Home, word: str) -> list[Path]:
    files = [p for p in made.paths.data.rglob("*") if p.is_file()]
    return [p for p in files if word.encode() in p.read_bytes()]


@pytest.mark.slow
@pytest.mark.parametrize("running", [True, False])
def test_with_opt_in_only_marked_folders_are_recorded(
    made: Home, tmp_path: Path, running: bool
) -> None:
    made.mem("config", "set", "opt-in", "true")
    made.mem("start")
    assert made.mem("on", str(tmp_path / "on")).returncode == 0
    if not running:
        made.mem("stop")
    for number in range(3):
        say(made, tmp_path / "other", f"{WORD}-{number}")
    say(made, tmp_path / "on-too", f"{WORD}-near")  # its name begins like that of the other
    say(made, tmp_path / "on", "kept")
    made.mem("start")
    until(lambda: made.prompts() == ["kept"], 30)
    until(lambda: not list(made.paths.spool.glob("*.ev")), 30)
    assert holds(made, WORD) == []
    assert made.prompts() == ["kept"]


@pytest.mark.slow
def test_off_and_on_again(made: Home, tmp_path: Path) -> None:
    made.mem("start")
    folder = tmp_path / "other"
    (folder / "below").mkdir()
    assert made.mem("off", str(folder)).returncode == 0
    say(made, folder / "below", WORD)
    assert made.prompts() == []
    assert made.mem("on", str(folder)).returncode == 0
    say(made, folder / "below", "again")
    until(lambda: made.prompts() == ["again"], 30)
    assert holds(made, WORD) == []


def test_what_decides_otherwise_is_named(made: Home, tmp_path: Path) -> None:
    folder = tmp_path / "on"
    (folder / ".git").mkdir()
    (folder / ".claude-mem.json").write_text('{"enabled": false}', "utf-8")
    done = made.mem("on", str(folder))
    assert (done.returncode, ".claude-mem.json" in done.stdout) == (1, True)
    assert made.mem("off", str(tmp_path / "missing")).returncode == 2


def test_a_repository_can_not_switch_itself_on(made: Home, tmp_path: Path) -> None:
    made.mem("config", "set", "opt-in", "true")
    made.mem("start")
    folder = tmp_path / "other"
    (folder / ".claude-mem.json").write_text('{"enabled": true}', "utf-8")
    say(made, folder, WORD)
    assert made.prompts() == []
    assert holds(made, WORD) == []


def test_both_lists_follow(made: Home, tmp_path: Path) -> None:
    made.mem("config", "set", "opt-in", "true")
    folder = str(tmp_path / "on")
    for command, included, excluded in (("on", folder, ""), ("off", "", folder), ("on", folder, "")):
        assert made.mem(command, folder).returncode == 0
        written = json.loads(made.paths.settings.read_text("utf-8"))
        assert written.get("CLAUDE_MEM_INCLUDED_PROJECTS", "") == included
        assert written.get("CLAUDE_MEM_EXCLUDED_PROJECTS", "") == excluded
