"""Deleting by age. Search follows through the change log, the accounting by its counters."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import attrs

from claude_mem_core.store import fetch, forget, text
from claude_mem_core.types import DocKind

# A session goes as a whole when nothing of it is newer and nothing of it waits.
SESSIONS = """
  SELECT s.id FROM sdk_sessions s
  WHERE s.started_at_epoch < ?1 AND {mine}
    AND NOT EXISTS (SELECT 1 FROM events e WHERE e.session_db_id = s.id AND e.at_ms >= ?1)
    AND NOT EXISTS (SELECT 1 FROM observations o
      WHERE o.session_db_id = s.id AND o.created_at_epoch >= ?1)
    AND NOT EXISTS (SELECT 1 FROM session_summaries m
      WHERE m.session_db_id = s.id AND m.created_at_epoch >= ?1)
    AND NOT EXISTS (SELECT 1 FROM user_prompts p
      WHERE p.session_db_id = s.id AND p.created_at_epoch >= ?1)
    AND NOT EXISTS (SELECT 1 FROM pending_messages q
      WHERE q.session_db_id = s.id AND q.status IN ('pending', 'processing'))
    {free}
  LIMIT ?3
"""
RECORDS = "SELECT id FROM {table} s WHERE created_at_epoch < ?1 AND {mine} {free} LIMIT ?3"
# What is pinned or belongs to the person stays, with its session and what it rests on.
CHOSEN = """
  SELECT kind, record_id FROM pins UNION ALL SELECT 'observation', memory_id FROM personal
"""
FREE_SESSION = f"""
  AND NOT EXISTS (SELECT 1 FROM ({CHOSEN}) n JOIN observations o
    ON n.kind = 'observation' AND o.id = n.record_id WHERE o.session_db_id = s.id)
  AND NOT EXISTS (SELECT 1 FROM pins n JOIN session_summaries m
    ON n.kind = 'summary' AND m.id = n.record_id WHERE m.session_db_id = s.id)
"""
FREE_RECORD = f"AND ('{{kind}}', s.id) NOT IN ({CHOSEN})"
FREE_EVENT = f"""
  AND NOT EXISTS (SELECT 1 FROM evidence v
    WHERE v.event_id = e.id AND (v.kind, v.memory_id) IN ({CHOSEN}))
"""
# What is older than that in sessions that go on: the receipts stay, the content goes.
EVENTS = """
  SELECT e.id FROM events e JOIN sdk_sessions s ON s.id = e.session_db_id
  WHERE e.at_ms < ?1 AND e.state IN ('stored', 'recorded') AND {mine}
    AND e.payload <> json_object('kind', e.kind, 'host', e.host, 'session_id', e.session,
      'at_ms', e.at_ms)
    {free}
  LIMIT ?3
"""
IMPORTED = """
  SELECT id FROM tool_uses s WHERE created_at_epoch < ?1 AND event_id IS NULL AND {mine}
  LIMIT ?3
"""
MINE = "(?2 IS NULL OR s.project_id IN (SELECT value FROM json_each(?2)))"
KINDS = (DocKind.OBSERVATION, DocKind.SUMMARY, DocKind.PROMPT)


@attrs.frozen
class Expired:
    """How much was deleted, or is old enough to be.

    Attributes:
        sessions: whole ones, with everything in them.
        memories: observations, summaries and prompts of sessions that stay.
        events: events of sessions that stay, whose content went.
    """

    sessions: int = 0
    memories: int = 0
    events: int = 0

    def __add__(self, other: Expired) -> Expired:
        return Expired(
            self.sessions + other.sessions,
            self.memories + other.memories,
            self.events + other.events,
        )

    def __bool__(self) -> bool:
        return bool(self.sessions or self.memories or self.events)


@attrs.frozen
class Age:
    """What is old: everything before a time (milliseconds), of some projects or of all.

    `pinned`: also what is pinned or personal.
    """

    before_ms: int
    projects: Sequence[int] | None = None
    pinned: bool = False

    def ids(self, conn: apsw.Connection, sql: str, limit: int, free: str = "") -> list[int]:
        """Rows that are old, at most `limit`; `free` leaves out what is pinned."""
        chosen = None if self.projects is None else text.dumps(list(self.projects))
        sql = sql.replace("{mine}", MINE).replace("{free}", "" if self.pinned else free)
        return [n for (n,) in fetch.rows(conn, sql, self.before_ms, chosen, limit)]


def delete_some(conn: apsw.Connection, age: Age, now: int, limit: int = 200) -> Expired:
    """Delete up to `limit` of what is old, in the caller's transaction.

    Call it until it returns nothing (an `Expired` that is false).
    """
    sessions = age.ids(conn, SESSIONS, limit, FREE_SESSION)
    for number in sessions:
        forget.delete_session(conn, number, now)
    if sessions:
        return Expired(sessions=len(sessions))
    return _of_sessions_that_stay(conn, age, limit)


def _of_sessions_that_stay(conn: apsw.Connection, age: Age, limit: int) -> Expired:
    for kind in KINDS:
        ids = _records(conn, age, kind, limit)
        for number in ids:
            forget.delete(conn, kind, number)
        if ids:
            return Expired(memories=len(ids))
    return Expired(events=_contents(conn, age, limit))


def _records(conn: apsw.Connection, age: Age, kind: DocKind, limit: int) -> list[int]:
    sql = RECORDS.replace("{table}", forget.TABLES[kind])
    return age.ids(conn, sql, limit, FREE_RECORD.format(kind=kind.value))


def _contents(conn: apsw.Connection, age: Age, limit: int) -> int:
    events = age.ids(conn, EVENTS, limit, FREE_EVENT)
    tools = age.ids(conn, IMPORTED, limit)
    for number in events:
        conn.execute("DELETE FROM tool_uses WHERE event_id = ?", (number,))
        conn.execute(forget.EMPTY, (number,))
    conn.executemany("DELETE FROM tool_uses WHERE id = ?", [(number,) for number in tools])
    return len(events) + len(tools)


def count(conn: apsw.Connection, age: Age) -> Expired:
    """What `delete_some` would delete in all; nothing is written.

    Memories and events are counted in every session, those that go as a whole included.
    """
    every = 2**62
    records = (_records(conn, age, kind, every) for kind in KINDS)
    return Expired(
        sessions=len(age.ids(conn, SESSIONS, every, FREE_SESSION)),
        memories=sum(map(len, records)),
        events=len(age.ids(conn, EVENTS, every, FREE_EVENT)) + len(age.ids(conn, IMPORTED, every)),
    )
