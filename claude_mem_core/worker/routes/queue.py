"""The work that waits: what there is, and starting it by hand."""

from __future__ import annotations

import time
from typing import Any

from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.store import queue
from claude_mem_core.worker.spec import INT64, OBJECT, Call, Endpoint, Right, integer, record

RECENT = """
  SELECT id, session_db_id, received_ms FROM events
  WHERE state = 'stored' ORDER BY id DESC LIMIT 20
"""
SESSIONS = """
  SELECT session_db_id, max(status) FROM pending_messages
  WHERE status IN ('pending', 'processing') GROUP BY session_db_id ORDER BY session_db_id
"""


async def pending(call: Call) -> dict[str, Any]:
    """What waits, what is being worked on, what failed."""
    limit = call.params["limit"]

    def read(conn: Any) -> dict[str, Any]:
        status = queue.status(conn, now_ms())
        messages = [dict(row) for row in queue.items(conn, min(limit, 1000))]
        recent = [_recent(*row) for row in conn.execute(RECENT)]
        sessions = [row[0] for row in conn.execute(SESSIONS)]
        return {
            "queue": {
                "messages": messages,
                "totalPending": status.pending,
                "totalProcessing": status.processing,
                "totalFailed": status.failed,
                "stuckCount": status.stuck,
            },
            "recentlyProcessed": recent,
            "sessionsWithPendingWork": sessions,
        }

    return await call.services.store.aread(read)


def _recent(number: int, session: int | None, at_ms: int) -> dict[str, Any]:
    return {
        "id": number, "session_db_id": session, "status": "processed",
        "completed_at_epoch": at_ms,
    }


async def process(call: Call) -> dict[str, Any]:
    """Start on what waits, turns that are not over included; returns at once."""
    limit = min(int((call.body or {}).get("sessionLimit", 10)), 100)
    rows = await call.services.store.aread(lambda conn: conn.execute(SESSIONS).fetchall())
    idle = [session for session, status in rows if status == "pending"]
    call.services.loop.wake(force=True)
    return {
        "success": True,
        "totalPendingSessions": len(rows),
        "sessionsStarted": len(idle[:limit]),
        "sessionsSkipped": len(rows) - len(idle),
        "startedSessionIds": idle[:limit],
    }


async def retry(call: Call) -> dict[str, Any]:
    """Queue dead letters again: all, or those named."""
    ids = (call.body or {}).get("ids")
    count = await call.services.store.awrite(lambda conn: queue.retry(conn, ids))
    call.services.loop.wake()
    return {"success": True, "retried": count}


async def processing(call: Call) -> dict[str, Any]:
    """`false`: take up all work that waits. `true` is accepted and does nothing."""
    if call.body["isProcessing"]:
        return {"status": "ok", "scheduledSessions": 0}
    rows = await call.services.store.aread(lambda conn: conn.execute(SESSIONS).fetchall())
    call.services.loop.wake(force=True)
    return {"status": "ok", "scheduledSessions": sum(s == "pending" for _, s in rows)}


async def processing_status(call: Call) -> dict[str, Any]:
    """Whether anything is being worked on, and how much waits."""
    return await status_now(call)


async def status_now(call: Call) -> dict[str, Any]:
    """The processing status, as the stream sends it too."""
    def read(conn: Any) -> tuple[queue.QueueStatus, int]:
        return queue.status(conn, now_ms()), queue.parked(conn, now_ms())

    status, parked = await call.services.store.aread(read)
    return {
        "isProcessing": call.services.loop.busy > 0,
        "queueDepth": status.pending + status.processing,
        "parkedSessions": parked,
    }


async def spool(call: Call) -> dict[str, Any]:
    """A hook has left something on disk: look now."""
    call.worker.spool_hint.set()
    return {"success": True, "at": int(time.time() * 1000)}


LIMIT = record({"sessionLimit": {"type": "integer", "minimum": 1, "maximum": INT64}})
IDS = record(
    {"ids": {"type": "array", "maxItems": 10_000,
             "items": {"type": "integer", "minimum": 1, "maximum": INT64}}}
)

ENDPOINTS = (
    Endpoint(
        "GET", "/api/pending-queue", pending, "Work that waits",
        params=(integer("limit", default=100, low=1, help="at most 1000 are given"),),
        area="queue",
    ),
    Endpoint(
        "POST", "/api/pending-queue/process", process, "Take up waiting work now",
        body=LIMIT, body_optional=True, right=Right.FULL, area="queue",
    ),
    Endpoint(
        "POST", "/api/pending-queue/retry", retry, "Queue dead letters again",
        body=IDS, body_optional=True, right=Right.FULL, area="queue",
    ),
    Endpoint(
        "POST", "/api/processing", processing, "Take up all waiting work (operator)",
        body=record({"isProcessing": {"type": "boolean"}}, "isProcessing"),
        right=Right.FULL, area="queue",
    ),
    Endpoint(
        "GET", "/api/processing-status", processing_status, "Whether work is going on",
        answers={200: OBJECT}, area="queue",
    ),
    Endpoint(
        "POST", "/api/spool", spool, "Look into the spool now",
        body=OBJECT, body_optional=True, right=Right.FULL, area="spool",
    ),
)
