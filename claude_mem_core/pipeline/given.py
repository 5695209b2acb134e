"""What a session has been given: when, and which memories."""

from __future__ import annotations

import json
from collections.abc import Iterable

import apsw

from claude_mem_core.types import Event

GIVEN = "SELECT context_at_epoch FROM sdk_sessions WHERE id = ?"
SESSION = "SELECT id FROM sdk_sessions WHERE platform_source = ? AND content_session_id = ?"
MARK = "UPDATE sdk_sessions SET context_at_epoch = ? WHERE id = ?"
REMEMBER = """
  INSERT INTO context_given (session_db_id, what, at_ms, newest_ms, ids)
  VALUES (?, 'session', ?, ?, ?)
  ON CONFLICT (session_db_id, what) DO UPDATE SET
    at_ms = excluded.at_ms, newest_ms = excluded.newest_ms, ids = excluded.ids
"""

KNOWN = "SELECT ids FROM context_given WHERE session_db_id = ? AND what = ?"
NOTE = """
  INSERT INTO context_given (session_db_id, what, at_ms, ids) VALUES (?, ?, ?, ?)
  ON CONFLICT (session_db_id, what) DO UPDATE SET at_ms = excluded.at_ms, ids = excluded.ids
"""
MOST_NOTED = 500


def context_given(conn: apsw.Connection, session_db_id: int) -> bool:
    """Whether the session has had its context."""
    return any(at is not None for (at,) in conn.execute(GIVEN, (session_db_id,)))


def session_of(conn: apsw.Connection, event: Event) -> int:
    """Row of the session that `event` belongs to; 0 when it has none yet."""
    found = conn.execute(SESSION, (event.host, event.session_id)).fetchone()
    return int(found[0]) if found else 0


def remember(
    conn: apsw.Connection, session_db_id: int, ids: list[str], now: int, *, beside: bool = False
) -> None:
    """Keep what was given, for `mem why` and for the next resume.

    `beside`: it came with what was given just now, for another folder of the session.
    """
    if not session_db_id:
        return
    if beside:
        ids = [*noted(conn, session_db_id, "session"), *ids]
    conn.execute(MARK, (now, session_db_id))
    conn.execute(REMEMBER, (session_db_id, now, now, json.dumps(ids)))


def noted(conn: apsw.Connection, session_db_id: int, what: str) -> list[str]:
    """What a session was given on one of several occasions, newest last."""
    found = conn.execute(KNOWN, (session_db_id, what)).fetchone()
    return [str(key) for key in json.loads(found[0])] if found else []


def note(
    conn: apsw.Connection, session_db_id: int, what: str, ids: Iterable[str], now: int
) -> None:
    """Add to what was given, for `mem why`; the newest 500 are known.

    Session 0 is that of agents that ask over MCP, who name none.
    """
    both = dict.fromkeys([*noted(conn, session_db_id, what), *ids])
    kept = json.dumps(list(both)[-MOST_NOTED:])
    conn.execute(NOTE, (session_db_id, what, now, kept))
