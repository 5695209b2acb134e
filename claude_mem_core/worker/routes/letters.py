"""The queue for a person: its counts, dead letters by their cause, retry and discard."""

from __future__ import annotations

from typing import Any

import apsw

from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.store import queue
from claude_mem_core.worker.routes.queue import IDS, retry
from claude_mem_core.worker.spec import Call, Endpoint, record

MOST = 1000


async def state(call: Call) -> dict[str, Any]:
    """How much waits, is worked on and failed; the newest of it; failures by their cause."""
    at = now_ms()

    def read(conn: apsw.Connection) -> dict[str, Any]:
        status = queue.status(conn, at)
        waiting = queue.items(conn, 100, "pending")
        return {
            "counts": {
                "waiting": sum(item["not_before_epoch"] <= at for item in waiting)
                if status.pending <= len(waiting) else status.pending,
                "retrying": sum(item["retry_count"] > 0 for item in waiting),
                "working": status.processing,
                "dead": status.failed,
                "done": queue.processed_since(conn, at - 86_400_000),
            },
            "oldest_ms": status.oldest_ms,
            "waiting": waiting,
            "working": queue.items(conn, 100, "processing"),
            "causes": causes(queue.items(conn, MOST, "failed")),
        }  # fmt: skip

    return {**await call.services.store.aread(read), "busy": call.services.loop.busy > 0}


def causes(dead: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Equal failures as one, the newest first."""
    found: dict[str, dict[str, Any]] = {}
    for item in dead:
        cause = item["error"] or "unknown"
        group = found.setdefault(
            cause, {"cause": cause, "ids": [], "sessions": [], "tries": 0, "last_ms": 0}
        )
        group["ids"].append(item["id"])
        if item["session_db_id"] not in group["sessions"]:
            group["sessions"].append(item["session_db_id"])
        group["tries"] = max(group["tries"], item["retry_count"])
        group["last_ms"] = max(group["last_ms"], item["failed_at_epoch"] or 0)
    return sorted(found.values(), key=lambda group: -int(group["last_ms"]))


async def discard(call: Call) -> dict[str, Any]:
    """Give dead letters up for good: all, or those named."""
    ids, now = (call.body or {}).get("ids"), now_ms()
    count = await call.services.store.awrite(lambda conn: queue.discard(conn, ids, now))
    return {"success": True, "discarded": count}


ENDPOINTS = (
    Endpoint("GET", "/api/queue", state, "The queue, and failures by their cause", area="queue"),
    Endpoint(
        "POST", "/api/queue/retry", retry, "Queue dead letters again", body=IDS,
        body_optional=True, answers={200: record({"retried": {"type": "integer"}}, "retried")},
        area="queue",
    ),
    Endpoint(
        "POST", "/api/queue/discard", discard, "Give dead letters up", body=IDS,
        body_optional=True,
        answers={200: record({"discarded": {"type": "integer"}}, "discarded")}, area="queue",
    ),
)
