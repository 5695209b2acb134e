"""The accounting finds what is off, and says nothing when all is well."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from claude_mem_core.store import queue
from tests.store_home import Home, opened


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with opened(tmp_path / "memory.db") as home:
        yield home


def a_bit_of_everything(home: Home) -> None:
    """Ten events: one dead, two skipped, two stored, three recorded, two pending."""
    home.start()
    home.prompt("one", 1)
    home.tool("t1", 2)
    home.stop("done", 3)
    home.keep(home.claim()[0])
    home.tool("t2", 4, state="skipped", reason="excluded")
    home.private(60_000)
    home.session = "s2"
    home.tool("t3", 5)
    for at in (0, 10**6, 2 * 10**6):
        (work,) = home.claim(at, force=True)
        home.write(lambda conn, at=at, work=work: queue.fail(conn, work, "bad", home.now + at))
    home.session = "s3"
    home.prompt("two", 6)
    home.tool("t4", 7)
    home.stop("done", 8)


def test_every_event_is_accounted_for(home: Home) -> None:
    a_bit_of_everything(home)
    account = home.verify()
    assert (account.accepted, account.found) == (10, 10)
    assert (account.stored, account.recorded, account.pending) == (2, 3, 2)
    assert account.skipped == {"excluded": 1, "private": 1}
    assert account.dead == {"bad": 1}
    assert account.off == ()


def test_an_empty_store_is_all_right(home: Home) -> None:
    account = home.verify()
    assert (account.accepted, account.found, account.off) == (0, 0, ())


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        ("DELETE FROM events WHERE id = 3", "1 accepted events are not in the journal"),
        ("UPDATE counters SET n = n - 1 WHERE name = 'accepted'", "1 events were never counted"),
        ("DELETE FROM pending_messages WHERE id = 9", "1 pending events have no work item"),
        ("DELETE FROM pending_messages WHERE status = 'failed'", "1 dead events have no dead"),
        ("UPDATE events SET state = 'stored' WHERE id = 9", "1 work items have no event"),
        ("UPDATE events SET reason = NULL WHERE state = 'skipped'", "2 skipped or dead events"),
        ("UPDATE events SET payload = '{}' WHERE state = 'skipped'", "2 skipped events still"),
        ("DELETE FROM sdk_sessions WHERE id = 3", "events belong to a session that is not"),
        ("DELETE FROM observations", "pieces of evidence have no memory"),
        ("DELETE FROM observations", "1 tool uses point to an observation"),
        ("UPDATE evidence SET event_id = 777 WHERE event_id = 3", "memories point to an event"),
    ],
)
def test_what_is_off_is_found(home: Home, harm: str, words: str) -> None:
    a_bit_of_everything(home)

    def fn(conn: apsw.Connection) -> None:
        conn.execute(harm)

    home.write(lambda conn: conn.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 0))
    raw = apsw.Connection(str(home.path))
    raw.execute(harm)
    raw.close()
    assert any(words in line for line in home.verify().off), home.verify().off
