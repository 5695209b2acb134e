"""A pause: nothing is kept, on any way, and agents are shown nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_core.cli.commands.pause import seconds
from claude_mem_core.cli.pausing import newest
from claude_mem_core.errors import UsageError
from claude_mem_core.paths import Paths
from claude_mem_core.projects import place_of
from claude_mem_core.settings import SettingsSource
from claude_mem_core.settings.pausing import KEY, is_paused, paused_text
from tests.store_home import opened
from tests.worker_home import Home, home, until

WORD = "PAUSED-MARKER"


@pytest.fixture
def made() -> Iterator[Home]:
    with home() as found:
        found.install()
        yield found


def holds(made: Home, word: str) -> list[Path]:
    files = [p for p in made.paths.data.rglob("*") if p.is_file()]
    return [p for p in files if word.encode() in p.read_bytes()]


def started(made: Home, session: str) -> str:
    payload = {"session_id": session, "cwd": "/srv/project", "source": "startup",
               "hook_event_name": "SessionStart", "transcript_path": ""}  # fmt: skip
    return made.hook("SessionStart", payload).stdout.decode()


@pytest.mark.slow
def test_nothing_is_kept_or_shown_until_it_is_over(made: Home) -> None:
    made.mem("start")
    made.mem("remember", "the cart rounds to cents", "--project", "project")
    made.prompt("before the pause")
    until(lambda: made.prompts() == ["before the pause"])
    assert made.mem("pause").returncode == 0
    made.prompt(f"a secret plan {WORD}", "s-2")
    shown = started(made, "s-3")
    assert "mem resume" in shown
    assert "cart" not in shown
    assert "PAUSED" in made.mem("status").stdout
    assert holds(made, WORD) == []
    assert made.mem("resume").returncode == 0
    made.prompt("after the pause", "s-4")
    until(lambda: made.prompts() == ["after the pause", "before the pause"])
    assert "mem resume" not in started(made, "s-5")
    account = made.json("verify")
    assert account["ok"]


def test_a_pause_holds_while_the_worker_is_down(made: Home) -> None:
    made.mem("start")
    made.mem("pause", "--for", "2h")
    made.mem("stop")
    assert json.loads(made.paths.edge.read_text("ascii"))["paused"] is True
    made.prompt(f"said while it was down {WORD}")
    assert holds(made, WORD) == []
    made.mem("start")
    until(lambda: not list(made.paths.spool.glob("*.ev")), 30)
    assert made.prompts() == []
    assert holds(made, WORD) == []


@pytest.mark.parametrize(
    ("text", "span"), [("30m", 1800), ("2h", 7200), (" 1d ", 86400), ("90 m", 5400)]
)
def test_times_are_read(text: str, span: int) -> None:
    assert seconds(text) == span


@pytest.mark.parametrize("text", ["", "x", "0m", "-1h", "1.5h", "9999d", "10", "1w"])
def test_other_times_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="30m"):
        seconds(text)


def test_a_pause_ends_by_itself() -> None:
    assert not is_paused({KEY: 0})
    assert not is_paused({KEY: 1_000})
    assert is_paused({KEY: -1})
    assert is_paused({KEY: 1 << 52})
    assert paused_text({KEY: 1_000}) == ""
    assert paused_text({KEY: -1}) == "paused"


@pytest.mark.slow
def test_one_session_is_left_alone(made: Home) -> None:
    """Also while the worker is down; other sessions go on."""
    made.mem("start")
    made.prompt("said before", "quiet")
    until(lambda: made.prompts() == ["said before"])
    made.mem("remember", "the cart rounds to cents", "--project", "project")
    found = made.json("pause", "--session", "quiet")
    assert found == {"session": "quiet", "incognito": True}
    made.prompt(f"a secret plan {WORD}", "quiet")
    shown = started(made, "quiet")
    assert "this session is incognito; `mem resume --session` ends it" in shown
    assert "cart" not in shown
    assert "cart" in started(made, "s-2")
    made.prompt("heard", "s-2")
    until(lambda: made.prompts() == ["heard", "said before"])
    made.mem("stop")
    made.mem("config", "set", "CLAUDE_MEM_WORKER_AUTOSTART", "false")
    made.prompt(f"another one {WORD}", "quiet")
    assert holds(made, WORD) == []
    made.mem("resume", "--session", "quiet")
    made.mem("config", "set", "CLAUDE_MEM_WORKER_AUTOSTART", "true")
    made.mem("start")
    made.prompt("after", "quiet")
    until(lambda: made.prompts() == ["after", "heard", "said before"])
    assert made.json("verify")["skipped"] == {"incognito": 3}


def test_the_newest_session_of_this_folder_is_meant(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    with opened(tmp_path / "memory.db") as home:
        home.place = place_of(str(folder), SettingsSource(Paths(tmp_path)).current(), "/root")
        for session in ("older", "newer"):
            home.session = session
            home.now += 60_000
            home.prompt("hello")
    paths = Paths(tmp_path)
    assert newest(paths, str(folder), SettingsSource(paths).current()) == "newer"
    with pytest.raises(UsageError, match="no session is known"):
        newest(paths, str(tmp_path), SettingsSource(paths).current())
