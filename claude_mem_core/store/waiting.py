"""What is in the work queue, for people and for the documented answers."""

from __future__ import annotations

import time
from typing import Any

import apsw
import attrs

from claude_mem_core.store import fetch

STUCK_MS = 300_000

STATUS = """
  SELECT session_db_id, sum(status = 'pending'), sum(status = 'processing'),
    sum(status = 'failed'),
    sum(status = 'processing' AND started_processing_at_epoch < ?1),
    coalesce(min(started_processing_at_epoch), min(created_at_epoch))
  FROM pending_messages GROUP BY session_db_id ORDER BY session_db_id
"""
OLDEST = "SELECT min(created_at_epoch) FROM pending_messages WHERE status = 'pending'"
PARKED = """
  SELECT count(DISTINCT session_db_id) FROM pending_messages
  WHERE status = 'pending' AND not_before_epoch > ?
"""
PROCESSED = """
  SELECT count(*) FROM (SELECT state, received_ms FROM events ORDER BY id DESC LIMIT 1000)
  WHERE state = 'stored' AND received_ms >= ?
"""
ITEM = (
    "id", "session_db_id", "content_session_id", "claude_session_id", "message_type",
    "status", "retry_count", "prompt_number", "tool_use_id", "tool_name", "error",
    "created_at_epoch", "started_processing_at_epoch", "completed_at_epoch",
    "failed_at_epoch", "not_before_epoch",
)  # fmt: skip
ITEMS = """
  SELECT q.id, q.session_db_id, q.content_session_id, q.content_session_id,
    q.message_type, q.status, q.retry_count, q.prompt_number, q.tool_use_id,
    json_extract(e.payload, '$.tool.name'), q.error, q.created_at_epoch,
    q.started_processing_at_epoch, NULL, q.failed_at_epoch, q.not_before_epoch
  FROM pending_messages q JOIN events e ON e.id = q.id
  WHERE (?1 IS NULL OR q.status = ?1) AND (?3 IS NULL OR q.id = ?3) ORDER BY q.id LIMIT ?2
"""


@attrs.frozen(kw_only=True)
class SessionStatus:
    """What waits of one session; `since_ms`: oldest claim, else oldest item."""

    session_db_id: int
    pending: int
    processing: int
    failed: int
    stuck: int
    since_ms: int


@attrs.frozen(kw_only=True)
class QueueStatus:
    """Counts of items. `stuck`: worked on for over five minutes.

    Attributes:
        oldest_ms: when the oldest waiting item came; None when none waits.
        sessions: the sessions with work, each with its counts and its oldest time.
    """

    pending: int = 0
    processing: int = 0
    failed: int = 0
    stuck: int = 0
    oldest_ms: int | None = None
    sessions: tuple[SessionStatus, ...] = ()


def status(conn: apsw.Connection, now: int | None = None) -> QueueStatus:
    """How much waits, is worked on, has failed."""
    at = time.time_ns() // 1_000_000 if now is None else now
    rows = fetch.rows(conn, STATUS, at - STUCK_MS)
    names = ("session_db_id", "pending", "processing", "failed", "stuck", "since_ms")
    each = tuple(SessionStatus(**dict(zip(names, row, strict=True))) for row in rows)
    return QueueStatus(
        pending=sum(s.pending for s in each),
        processing=sum(s.processing for s in each),
        failed=sum(s.failed for s in each),
        stuck=sum(s.stuck for s in each),
        oldest_ms=fetch.value(conn, OLDEST),
        sessions=each,
    )


def parked(conn: apsw.Connection, now: int) -> int:
    """How many sessions have work that is not to be taken up yet: it waits for a model,
    or for the pause after a failure to end.
    """
    return int(fetch.value(conn, PARKED, now))


def processed_since(conn: apsw.Connection, since_ms: int) -> int:
    """How many of the newest thousand events came after a time and are stored by now."""
    return int(fetch.value(conn, PROCESSED, since_ms))


def items(
    conn: apsw.Connection, limit: int = 100, state: str | None = None,
    number: int | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Items, oldest first, by the names of the documented columns; no payload."""
    rows = fetch.rows(conn, ITEMS, state, limit, number)
    return [dict(zip(ITEM, row, strict=True)) for row in rows]
