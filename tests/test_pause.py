"""A pause: nothing is kept, on any way, and agents are shown nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claude_mem_core.cli.commands.pause import seconds
from claude_mem_core.cli.pausing import newest
from claude_mem_core.errors import UsageError
from claude_mem_core.paths import Paths
from claude_mem_core.projects import place_of
from claude_mem_core.settings import SettingsSource
from claude_mem_core.settings.pausing import (
    KEY,
    MOST_SPANS,
    OPEN_END,
    SPANS,
    is_paused,
    paused_text,
    spans,
    was_paused,
)
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


def told(made: Home, words: str, session: str, at: float) -> Path:
    """The host's own transcript, which knows of no pause; the folder of the host's files."""
    config = made.paths.data.parent / "claude"
    folder = config / "projects" / "-srv-project"
    folder.mkdir(parents=True)
    line = {"type": "user", "uuid": session, "sessionId": session, "cwd": "/srv/project",
            "timestamp": datetime.fromtimestamp(at, UTC).isoformat(),
            "message": {"role": "user", "content": words}}  # fmt: skip
    (folder / f"{session}.jsonl").write_text(json.dumps(line) + "\n")
    return config


@pytest.mark.slow
def test_nothing_is_kept_or_shown_until_it_is_over(made: Home) -> None:
    made.mem("start")
    made.mem("remember", "the cart rounds to cents", "--project", "project")
    made.prompt("before the pause")
    until(lambda: made.prompts() == ["before the pause"])
    assert made.mem("pause").returncode == 0
    made.prompt(f"a secret plan {WORD}", "s-2")
    said = time.time()
    shown = started(made, "s-3")
    assert "mem resume" in shown
    assert "cart" not in shown
    assert "PAUSED" in made.mem("status").stdout
    assert holds(made, WORD) == []
    assert made.mem("resume").returncode == 0
    config = told(made, f"a secret plan {WORD}", "s-9", said)
    taken = made.mem("import", "transcripts", env={"CLAUDE_CONFIG_DIR": str(config)})
    assert "left out (paused)" in taken.stdout, taken.stderr
    assert holds(made, WORD) == []
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


@pytest.mark.parametrize("only", ["", "s:1"])
def test_pauses_are_kept_for_what_is_told_afterwards(only: str) -> None:
    why = "incognito" if only else "paused"

    def at(ms: int, given: list[str], session: str = "s:1") -> str | None:
        return was_paused(ms, session, {SPANS: given})

    on = spans(["damaged", "x-y:z", "-"], 1_000, OPEN_END, only)
    assert (at(999, on), at(1_000, on), at(9_999, on)) == (None, why, why)
    off = spans(on, 2_000, None, only)
    assert (at(1_999, off), at(2_000, off)) == (why, None)
    again = spans(off, 3_000, 5_000, only)
    assert [at(n, again) for n in (2_500, 3_000, 4_999, 5_000)] == [None, why, why, None]
    early = spans(again, 4_000, None, only)
    assert (at(3_999, early), at(4_000, early), at(1_500, early)) == (why, None, why)
    assert at(0, early) == ("incognito" if only else None)
    assert at(1_500, early, "s-2") == (None if only else "paused")
    for n in range(1_000):
        early = spans(early, 10_000 + n, 20_000, only)
    assert len(early) == MOST_SPANS


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
