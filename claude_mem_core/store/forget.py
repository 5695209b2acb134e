"""Deleting a memory, a prompt or a session with everything that hangs on it.

What a memory was made from goes too, as far as no other memory rests on it: what
somebody deletes must not come back when the events are observed again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

import apsw

from claude_mem_core.errors import NotFound
from claude_mem_core.store import counters, fetch, personal
from claude_mem_core.types import DocKind

log = logging.getLogger(__name__)

TABLES = {
    DocKind.OBSERVATION: "observations",
    DocKind.SUMMARY: "session_summaries",
    DocKind.PROMPT: "user_prompts",
}
PAIRS = "DELETE FROM observation_dedup_candidates WHERE ?1 IN (observation_id, other_id)"
LONELY = """
  SELECT event_id FROM evidence v WHERE kind = ?1 AND memory_id = ?2 AND NOT EXISTS (
    SELECT 1 FROM evidence o WHERE o.event_id = v.event_id
      AND (o.kind <> ?1 OR o.memory_id <> ?2))
"""
EMPTY = """
  UPDATE events SET payload = json_object('kind', kind, 'host', host, 'session_id', session,
    'at_ms', at_ms), cwd = NULL
  WHERE id = ? AND payload IS NOT NULL
"""
MEMORIES = """
  SELECT 'observation', id FROM observations WHERE session_db_id = ?1
  UNION ALL SELECT 'summary', id FROM session_summaries WHERE session_db_id = ?1
"""
WAITING = "SELECT count(*) FROM pending_messages WHERE session_db_id = ?"
DELIVERIES = """
  DELETE FROM deliveries WHERE event_id IN (SELECT id FROM events WHERE session_db_id = ?)
"""
NAMES = {DocKind.SUMMARY: "Session"}


def delete(conn: apsw.Connection, kind: DocKind, number: int) -> None:
    """Delete one record. Search forgets it through the change log.

    Raises:
        NotFound: there is none of that id.
    """
    if fetch.row(conn, f"SELECT 1 FROM {TABLES[kind]} WHERE id = ?", number) is None:
        name = NAMES.get(kind, kind.value.capitalize())
        raise NotFound(f"{name} #{number} not found")
    if kind is DocKind.PROMPT:
        _prompt(conn, number)
    else:
        detach(conn, kind.value, number, _lonely(conn, kind, number))
        _corrections(conn, kind.value, number)
    conn.execute(f"DELETE FROM {TABLES[kind]} WHERE id = ?", (number,))


def give_way(conn: apsw.Connection, kind: DocKind, number: int) -> None:
    """Delete a memory for which a better one comes; what it was made from stays."""
    detach(conn, kind.value, number, ())
    conn.execute(f"DELETE FROM {TABLES[kind]} WHERE id = ?", (number,))


def delete_session(conn: apsw.Connection, session_db_id: int, now: int) -> None:
    """Delete a session: its events, tool uses, prompts, memories and its waiting work.

    Raises:
        NotFound: there is none of that id.
    """
    if fetch.row(conn, "SELECT 1 FROM sdk_sessions WHERE id = ?", session_db_id) is None:
        raise NotFound(f"Session #{session_db_id} not found")
    for kind, number in fetch.rows(conn, MEMORIES, session_db_id):
        detach(conn, kind, number, ())
    for table in ("tool_uses", "context_given", "given_log", "corrections"):
        conn.execute(f"DELETE FROM {table} WHERE session_db_id = ?", (session_db_id,))
    events = "SELECT count(*) FROM events WHERE session_db_id = ?"
    counters.add(conn, "removed", now, int(fetch.value(conn, events, session_db_id)))
    waiting = fetch.value(conn, WAITING, session_db_id)
    if waiting:
        log.warning("session %s deleted with pendingCount=%s", session_db_id, waiting)
    conn.execute(DELIVERIES, (session_db_id,))
    conn.execute("DELETE FROM sdk_sessions WHERE id = ?", (session_db_id,))


def _lonely(conn: apsw.Connection, kind: DocKind, number: int) -> list[int]:
    return [row[0] for row in fetch.rows(conn, LONELY, kind.value, number)]


def detach(conn: apsw.Connection, kind: str, number: int, lonely: Iterable[int]) -> None:
    """Cut a memory's ties; the events `lonely`, which nothing else rests on, are emptied."""
    values = (kind, number)
    conn.execute("DELETE FROM pins WHERE kind = ? AND record_id = ?", values)
    personal.remove(conn, kind, number)
    if kind == "observation":
        for table in ("feedback", "watched", "verify_marks", "subjects"):
            conn.execute(f"DELETE FROM {table} WHERE memory_id = ?", (number,))
        conn.execute(PAIRS, (number,))
    conn.execute("DELETE FROM evidence WHERE kind = ? AND memory_id = ?", values)
    conn.execute("DELETE FROM memory_files WHERE kind = ? AND memory_id = ?", values)
    table = "observations" if kind == "observation" else "session_summaries"
    conn.execute(f"UPDATE {table} SET superseded_by = NULL WHERE superseded_by = ?", (number,))
    if kind == "observation":
        sql = "UPDATE tool_uses SET observation_id = NULL WHERE observation_id = ?"
        conn.execute(sql, (number,))
    empty_events(conn, lonely)


def _corrections(conn: apsw.Connection, kind: str, number: int) -> None:
    """Earlier words of a memory are words of it."""
    values = (kind, number)
    conn.execute("DELETE FROM corrections WHERE kind = ? AND record_id = ?", values)


def empty_events(conn: apsw.Connection, events: Iterable[int]) -> None:
    """Take the content out of events and their tool uses; the receipts stay."""
    for event_id in events:
        conn.execute("DELETE FROM tool_uses WHERE event_id = ?", (event_id,))
        conn.execute(EMPTY, (event_id,))


def _prompt(conn: apsw.Connection, number: int) -> None:
    """The session keeps its first prompt's words beside; they go too."""
    sql = "SELECT session_db_id, prompt_text FROM user_prompts WHERE id = ?"
    session, words = fetch.row(conn, sql, number) or (0, "")
    sql = "UPDATE sdk_sessions SET user_prompt = NULL WHERE id = ? AND user_prompt = ?"
    conn.execute(sql, (session, words))
