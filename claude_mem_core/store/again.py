"""Turns that a model is to observe again, from their events; what it makes replaces."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import attrs

from claude_mem_core.store import fetch, text
from claude_mem_core.store.queue import FOR_MODEL

# Turns of which the events are all done and still there, oldest first.
TURNS = """
  SELECT e.session_db_id, e.prompt_number, count(*) FROM events e
  JOIN sdk_sessions s ON s.id = e.session_db_id
  WHERE e.state = 'stored' AND e.payload IS NOT NULL AND e.at_ms >= ?1
    AND (?2 IS NULL OR s.content_session_id = ?2)
    AND (?3 IS NULL OR s.project_id IN (SELECT value FROM json_each(?3)))
    AND (?4 OR NOT EXISTS (
      SELECT 1 FROM observations o WHERE o.session_db_id = e.session_db_id
        AND coalesce(o.prompt_number, 0) = e.prompt_number
        AND coalesce(o.generated_by_model, 'builtin') <> 'builtin'))
    AND NOT EXISTS (
      SELECT 1 FROM pending_messages q WHERE q.session_db_id = e.session_db_id
        AND q.prompt_number = e.prompt_number)
  GROUP BY e.session_db_id, e.prompt_number ORDER BY e.session_db_id, e.prompt_number
"""
QUEUE = """
  INSERT OR IGNORE INTO pending_messages (id, session_db_id, content_session_id, message_type,
    tool_use_id, prompt_number, agent_id, created_at_epoch, not_before_epoch)
  SELECT id, session_db_id, session,
    CASE WHEN kind IN ('turn_ended', 'turn_failed') THEN 'summarize' ELSE 'observation' END,
    json_extract(payload, '$.tool.id'), prompt_number, agent_id, ?3, ?4
  FROM events WHERE session_db_id = ?1 AND prompt_number = ?2 AND state = 'stored'
    AND payload IS NOT NULL
"""
PENDING = """
  UPDATE events SET state = 'pending' WHERE session_db_id = ? AND prompt_number = ?
    AND state = 'stored' AND payload IS NOT NULL
"""
# What is there serves on until then; what a person has changed or pinned stays for good.
MEANWHILE = """
  UPDATE observations SET metadata = json_set(
    CASE WHEN json_valid(metadata) THEN metadata ELSE '{}' END, '$.meanwhile', json('true'))
  WHERE session_db_id = ? AND coalesce(prompt_number, 0) = ? AND superseded_by IS NULL
"""


@attrs.frozen
class Again:
    """How much a model was given to observe again."""

    turns: int = 0
    events: int = 0


def again(
    conn: apsw.Connection, now: int, *, session: str | None = None, since: int = 0,
    projects: Sequence[int] | None = None, everything: bool = False, dry: bool = False,
) -> Again:  # fmt: skip
    """Queue turns for a model.

    Args:
        session: the host's id of the only session.
        since: only what happened from then on (ms).
        projects: only of these projects.
        everything: also turns that a model has observed already.
        dry: only count.
    """
    ids = None if projects is None else text.dumps(list(projects))
    turns = fetch.rows(conn, TURNS, since, session, ids, everything)
    for row in [] if dry else turns:
        turn = (row[0], row[1])
        conn.execute(QUEUE, (*turn, now, FOR_MODEL))
        conn.execute(PENDING, turn)
        conn.execute(MEANWHILE, turn)
    return Again(len(turns), sum(row[2] for row in turns))
