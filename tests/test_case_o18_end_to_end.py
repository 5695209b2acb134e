"""Case O18: sessions in odd directories, through hook and worker.

What each directory is, by itself, is in `test_case_o18_odd_directories.py`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.case_home import Played, played
from tests.hook_home import environment, lines

CASE = "O18-odd-working-directories"
LINES = {line["name"]: line for line in lines(CASE, "cwds.jsonl")}
KEY = re.compile(r"[^/\\\n:]{2,80}")

# Runs the hook in a directory that is removed before the hook's first step.
IN_A_LOST_PLACE = "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.argv[1], sys.argv[1:])"


@attrs.frozen
class Stay:
    """A home whose temporary directory is its own, and all lines of the case delivered."""

    home: Played
    temp: Path
    left_over: set[str]

    def cwd(self, name: str) -> str:
        return self.filled(name)["cwd"]  # type: ignore[no-any-return]

    def filled(self, name: str) -> dict[str, Any]:
        return self.home.filled(LINES[name]["payload"], TMP=str(self.temp))

    def project(self, name: str) -> tuple[str, str, str]:
        """Key, kind and label of the project that a line's session is in."""
        sql = """SELECT p.key, p.kind, s.project FROM sdk_sessions s
            JOIN projects p ON p.id = s.project_id WHERE s.content_session_id = ?"""
        (found,) = self.home.rows(sql, LINES[name]["payload"]["session_id"])
        return found  # type: ignore[return-value]


def files(base: Path, own: Path) -> set[str]:
    """Everything below a directory, but for the data directory."""
    found = {str(path) for path in base.rglob("*")}
    return {path for path in found if not path.startswith(str(own))}


def deliver(stay: Stay, name: str) -> None:
    line, payload = LINES[name], stay.filled(name)
    if line["make"]:
        os.makedirs(payload["cwd"], exist_ok=True)
    if name == "deleted":
        lost(stay, payload)
    else:
        assert stay.home.hook(payload, cwd=stay.temp).seconds < 2


def lost(stay: Stay, payload: dict[str, Any]) -> None:
    import json

    argv = [sys.executable, "-c", IN_A_LOST_PLACE, *stay.home.hooks.argv]
    done = subprocess.run(
        [*argv, "claude-code", "UserPromptSubmit"], input=json.dumps(payload).encode(),
        capture_output=True, cwd=payload["cwd"], env=environment(), timeout=30, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.fixture(scope="module")
def stay() -> Iterator[Stay]:
    with played(running=False) as home:
        temp = home.paths.data.parent / "temp"
        temp.mkdir()
        home.start(TMPDIR=str(temp))
        made = Stay(home, temp, set())
        for name in LINES:
            before = files(home.home, home.paths.data) | files(temp, home.paths.data)
            deliver(made, name)
            after = files(home.home, home.paths.data) | files(temp, home.paths.data)
            made.left_over.update(after - before - {made.cwd(name), *above(made.cwd(name))})
        home.settle()
        yield made


def above(path: str) -> list[str]:
    return [str(parent) for parent in Path(path).parents]


def test_o18_every_prompt_is_stored_where_it_belongs(stay: Stay) -> None:
    texts = [line["payload"]["prompt"] for line in LINES.values()]
    assert sorted(stay.home.prompts()) == sorted(texts)
    own = {}
    for name, line in LINES.items():
        key, kind, label = stay.project(name)
        wanted = line["project"]
        assert KEY.fullmatch(key), name
        assert not set(label) & set("\\\n:"), name
        assert label != stay.home.home.name, name
        if wanted == "none":
            assert kind == "general", name
        elif wanted == "own":
            own[name] = key
        elif wanted.startswith("same-as:"):
            assert key == stay.project(wanted.removeprefix("same-as:"))[0], name
    assert len(set(own.values())) == len(own)
    stay.home.is_sound()


def test_o18_what_has_no_project_is_given_to_nobody(stay: Stay) -> None:
    """The next session sees its own directory's prompts, and in general places nothing."""
    for name in LINES:
        payload = {**stay.filled(name), "hook_event_name": "SessionStart", "source": "startup"}
        del payload["prompt"]
        payload["session_id"] = f"next-{name}"
        text = stay.home.told(stay.home.hook(payload, cwd=stay.temp))
        shown = {o for o, line in LINES.items() if line["payload"]["prompt"] in text}
        key, kind, _ = stay.project(name)
        if kind == "general":
            assert text == "", name
        assert shown <= {o for o in LINES if stay.project(o)[0] == key}, name


def test_o18_nothing_is_written_into_the_places(stay: Stay) -> None:
    assert not stay.left_over
    assert not (stay.temp / "never").exists()


MORE = {
    "a file": "{{TMP}}/a-file.txt",
    "a dangling link": "{{TMP}}/to-nowhere",
    "a circle of links": "{{TMP}}/round",
    "endless": "/srv/" + "x/" * 3_000,
    "an endless name": "/srv/" + "x" * 5_000,
    "a device": "/dev/null/x",
    "of the system": "/proc/self/fd",
    "another user's home": "/home/somebody-else",
    "a share": "\\\\server\\share\\team\\app",
    "a drive": "D:\\src\\app",
    "a drive alone": "D:\\",
    "wsl": "/mnt/c/Users/ann",
    "an address": "file:///srv/app",
    "a number": 7,
    "null": None,
    "a list": ["/srv/app"],
    "nothing but blanks": "   ",
    "with nul": "/srv/\x00app",
    "with escapes": "/srv/\x1b[2Japp",
}


@pytest.mark.parametrize("name", MORE)
def test_o18_more_odd_places(stay: Stay, name: str) -> None:
    temp = stay.temp
    (temp / "a-file.txt").touch()
    if not (temp / "round").is_symlink():
        (temp / "round").symlink_to(temp / "round")
        (temp / "to-nowhere").symlink_to(temp / "nowhere")
    given = MORE[name]
    cwd = given.replace("{{TMP}}", str(temp)) if isinstance(given, str) else given
    payload = stay.home.payload("UserPromptSubmit", f"more-{name}", prompt="hello")
    ran = stay.home.hook({**payload, "cwd": cwd}, cwd=temp)
    assert ran.seconds < 2
    start = stay.home.payload("SessionStart", f"more-{name}-next", source="startup")
    text = stay.home.told(stay.home.hook({**start, "cwd": cwd}, cwd=temp))
    assert "\x1b" not in text
    assert not (temp / "nowhere").exists()
    stay.home.is_sound()
