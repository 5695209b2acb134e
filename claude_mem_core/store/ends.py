"""Turns that went quiet: the last ones of their sessions, with what is known of them."""

from __future__ import annotations

import apsw
import attrs

from claude_mem_core.store import fetch
from claude_mem_core.types.retelling import FROM

END_MISSING = "end_missing"  # the receipt of an end that nobody reported

QUIET = """
  SELECT s.id, s.platform_source, s.content_session_id, s.last_prompt_number,
    s.last_prompt_at_epoch, s.completed_at_epoch IS NOT NULL, coalesce(s.cwd, ''),
    (SELECT max(received_ms) FROM events e WHERE e.session_db_id = s.id
      AND e.prompt_number = s.last_prompt_number) AS last_ms,
    EXISTS (SELECT 1 FROM events e WHERE e.session_db_id = s.id
      AND e.prompt_number = s.last_prompt_number
      AND (e.kind IN ('turn_ended', 'turn_failed') OR e.reason = ?4)),
    (SELECT json_extract(e.payload, '$.transcript') FROM events e
      WHERE e.session_db_id = s.id AND e.prompt_number = s.last_prompt_number
        AND e.payload IS NOT NULL AND e.agent_id IS NULL
        AND json_extract(e.payload, '$.transcript') IS NOT NULL ORDER BY e.id DESC LIMIT 1)
  FROM sdk_sessions s
  WHERE s.last_prompt_at_epoch > ?1 AND s.prompt_counter > 0
    AND last_ms > ?2 AND last_ms < ?3
    AND EXISTS (SELECT 1 FROM events e WHERE e.session_db_id = s.id
      AND e.prompt_number = s.last_prompt_number AND e.kind = 'prompt_sent'
      AND coalesce(json_extract(e.payload, '$.host_event'), '') <> ?5)
"""
TOOL = "SELECT 1 FROM tool_uses WHERE session_db_id = ? AND tool_use_id = ?"


@attrs.frozen
class QuietTurn:
    """The last turn of a session.

    Attributes:
        prompt_ms: when its prompt was sent.
        completed: the host said that the session is over.
        last_ms: when the last event of it was received.
        ended: its end was reported, or noted as missing.
        transcript: path that its events named, if any.
    """

    session_db_id: int
    host: str
    session_id: str
    number: int
    prompt_ms: int
    completed: bool
    cwd: str
    last_ms: int
    ended: bool
    transcript: str | None


def quiet(conn: apsw.Connection, since: int, until: int) -> list[QuietTurn]:
    """Turns of hooks of which nothing came after `until`, but something after `since`."""
    day = since - 86_400_000
    values = (day, since, until, END_MISSING, FROM)
    return [QuietTurn(*row) for row in fetch.rows(conn, QUIET, *values)]


def has_tool(conn: apsw.Connection, session_db_id: int, number: str) -> bool:
    """Whether a tool use of that id is known in the session."""
    return fetch.row(conn, TOOL, session_db_id, number) is not None
