"""A marker file groups a folder outside git only once a person agreed at a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_core.projects import place_of
from claude_mem_core.settings import SettingsSource
from tests.worker_home import Home, home


@pytest.fixture
def made() -> Iterator[Home]:
    with home() as found:
        yield found


@pytest.fixture
def notes(made: Home) -> Path:
    folder = made.paths.data.parent.resolve() / "notes"
    (folder / "2026").mkdir(parents=True)
    (folder / ".claude-mem.json").write_text('{"name": "My notes"}')
    return folder


def at_a_terminal(made: Home, *args: str, answer: str) -> int:
    """Run `mem` with a terminal, and answer what it asks; its exit code."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "CLAUDE_MEM_DATA_DIR": str(made.paths.data)}
    argv = [sys.executable, "-m", "claude_mem_core.cli.main", *args]
    with subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
        os.close(theirs)
        os.write(ours, f"{answer}\n".encode())
        code = process.wait(60)
    os.close(ours)
    return code


def label(made: Home, folder: Path) -> str:
    settings = SettingsSource(made.paths, environ={}).current()
    return place_of(str(folder), settings, "/nowhere/home").label


def test_a_person_agrees_at_a_terminal(made: Home, notes: Path) -> None:
    assert label(made, notes / "2026") == "2026"
    assert at_a_terminal(made, "project", "confirm", str(notes / "2026"), answer="n") == 1
    assert label(made, notes / "2026") == "2026"
    assert at_a_terminal(made, "project", "confirm", str(notes / "2026"), answer="y") == 0
    assert label(made, notes / "2026") == "My notes"
    assert made.mem("project", "confirm", str(notes)).returncode == 0, "agreed before"


def test_a_program_can_not_agree(made: Home, notes: Path) -> None:
    done = made.mem("project", "confirm", str(notes), stdin="y\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert "terminal" in done.stderr
    assert label(made, notes / "2026") == "2026"


def test_without_a_marker_there_is_nothing_to_agree_to(made: Home) -> None:
    done = made.mem("project", "confirm", str(made.paths.data.parent))
    assert done.returncode == 2
    assert "no marker file" in done.stderr


@pytest.mark.slow
def test_a_session_in_a_marked_folder_is_told(made: Home, notes: Path) -> None:
    made.install()
    payload = {"session_id": "s", "cwd": str(notes / "2026"), "transcript_path": "",
               "hook_event_name": "SessionStart", "source": "startup"}  # fmt: skip
    out = made.hook("SessionStart", payload).stdout.decode()
    out += made.hook("SessionStart", {**payload, "session_id": "s2"}).stdout.decode()
    assert f"mem project confirm {notes}" in out
