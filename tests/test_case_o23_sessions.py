"""Case O23: startup, resume after days, clear, compact and fork, through hook and worker.

The wall clock is simulated as the case allows: before each line everything stored is
moved back by the time that passed since the line before.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import apsw
import pytest

from tests.case_home import Played, played, until
from tests.hook_home import Ran, lines

TIMELINE = lines("O23-session-sources-and-resume", "timeline.jsonl")
MARKER = "marker-opalstoat"
A, B, C = (f"5e0f7c1a-0000-4000-8000-00000000230{letter}" for letter in "abc")
RECENT_MS = 1_000_000_000_000


def ms(line: dict[str, Any]) -> int:
    return int(datetime.fromisoformat(line["at"]).timestamp() * 1000)


def columns(conn: apsw.Connection) -> Iterator[tuple[str, str]]:
    """Every column of every table that holds a time."""
    tables = [
        row[0] for row in conn.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    ]
    for table in tables:
        for column in conn.execute(f"SELECT name FROM pragma_table_info('{table}')"):
            if column[0].endswith(("_epoch", "_ms")) or column[0] == "suppressed":
                yield table, column[0]


def time_passes(home: Played, by_ms: int) -> None:
    """Move all stored times back."""
    conn = apsw.Connection(str(home.paths.database))
    conn.set_busy_timeout(10_000)
    try:
        conn.execute("BEGIN IMMEDIATE")
        for table, column in columns(conn):
            sql = f"UPDATE {table} SET {column} = {column} - ? WHERE {column} > ?"
            conn.execute(sql, (by_ms, RECENT_MS))
        conn.execute("COMMIT")
    finally:
        conn.close()


def check_sessions(home: Played) -> None:
    sessions = home.rows("SELECT content_session_id FROM sdk_sessions ORDER BY id")
    assert [row[0] for row in sessions] == [A, B, C]
    sql = "SELECT prompt_number, prompt_text FROM user_prompts WHERE content_session_id = ? ORDER BY 1"
    prompts = home.rows(sql, A)
    assert [(number, text[:2]) for number, text in prompts] == [(1, "p1"), (2, "p2"), (3, "p3")]
    assert [row[1][:2] for row in home.rows(sql, C)] == ["p4"]
    tools = home.rows("SELECT tool_use_id FROM tool_uses ORDER BY id")
    assert tools == [("toolu_s1",), ("toolu_s2",), ("toolu_s3",)]
    left = home.rows("SELECT DISTINCT state FROM events WHERE kind = 'tool_used'")
    assert {row[0] for row in left} <= {"stored", "skipped"}
    assert home.rows("SELECT count(*) FROM pending_messages") == [(0,)]
    home.is_sound()


def play(home: Played, kill_after: int) -> list[Ran]:
    """Deliver the timeline; the answers to its session starts."""
    started = []
    for number, line in enumerate(TIMELINE, 1):
        if number > 1:
            time_passes(home, ms(line) - ms(TIMELINE[number - 2]))
        ran = home.hook(home.filled(line["payload"]))
        if line["payload"]["hook_event_name"] == "SessionStart":
            started.append(ran)
        if number == kill_after:
            assert home.worker is not None
            home.worker.kill()
            home.start()
    return started


@pytest.mark.slow
def test_o23_the_whole_timeline() -> None:
    """The worker dies between lines 6 and 7 with work in the queue."""
    with played() as home:
        started = play(home, kill_after=6)
        assert all(home.told(ran) for ran in started)
        assert len(started) == 5
        for ran, source in zip(
            started[1:], ("resume", "compact", "clear", "fork"), strict=True
        ):
            assert MARKER in home.told(ran), source
        home.settle()
        check_sessions(home)


@pytest.mark.slow
def test_o23_compaction_gets_no_more_than_a_start(home_with_past: Played) -> None:
    home = home_with_past
    compact = home.begin("s-1", source="compact")
    startup = home.begin("s-2", source="startup")
    assert 0 < len(compact) <= len(startup)
    assert MARKER in compact
    assert home.begin("s-3", source="fork") == home.begin("s-4", source="clear") == startup
    assert len(home.prompts()) == 1


@pytest.fixture
def home_with_past() -> Iterator[Played]:
    with played() as home:
        home.hook(home.payload("UserPromptSubmit", prompt=f"p1 build the importer {MARKER}"))
        home.hook(home.payload("Stop", last_assistant_message="Importer builds."))
        home.settle()
        yield home


@pytest.mark.slow
def test_o23_a_resume_tells_what_came_since_and_nothing_twice(home_with_past: Played) -> None:
    home = home_with_past
    assert MARKER in home.begin("s-1", source="startup")
    again = home.begin("s-1", source="resume")
    assert again
    assert MARKER not in again
    home.hook(
        home.payload("UserPromptSubmit", "s-9", prompt="what the others did marker-tanotter")
    )
    home.hook(home.payload("Stop", "s-9", last_assistant_message="It is done."))
    home.settle()
    assert "marker-tanotter" in home.begin("s-1", source="resume")


@pytest.mark.slow
def test_o23_every_source_at_once_makes_one_session_each() -> None:
    """Sources that no host has yet, missing ones, and a start that comes twice."""
    with played() as home:
        for number, source in enumerate(["startup", "new-word", "", None, 7]):
            payload = home.payload("SessionStart", f"s-{number}", source=source)
            if source is None:
                del payload["source"]
            for _ in range(2):
                home.hook(payload)
        assert home.rows("SELECT count(*) FROM sdk_sessions")[0][0] >= 4
        twice = "SELECT content_session_id FROM sdk_sessions GROUP BY 1 HAVING count(*) > 1"
        assert home.rows(twice) == []
        assert home.prompts() == []
        home.is_sound()


@pytest.mark.slow
def test_o23_end_of_a_resumed_session_is_told_while_no_worker_runs() -> None:
    """Line 6 waits on disk: it is taken in before the session goes on."""
    with played() as home:
        argv = home.paths.worker_argv.read_bytes()
        for line in TIMELINE[:5]:
            home.hook(home.filled(line["payload"]))
        home.stop()
        home.hooks.worker_is(["/bin/false"])
        home.hook(home.filled(TIMELINE[5]["payload"]))
        home.paths.worker_argv.write_bytes(argv)
        home.start()
        text = home.told(home.hook(home.filled(TIMELINE[6]["payload"])))
        assert text
        home.hook(home.filled(TIMELINE[7]["payload"]))
        home.settle()
        until(lambda: home.rows("SELECT status FROM sdk_sessions") == [("active",)])
        assert [text[:2] for text in home.prompts()] == ["p1", "p2"]
        home.is_sound()
