"""My Work: what needs a person, what is ready to be looked at, what was looked at."""

from __future__ import annotations

from typing import Any

from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.store import projects, work
from claude_mem_core.worker.spec import (
    INT64,
    OBJECT,
    Call,
    Endpoint,
    integer,
    limit,
    project,
    record,
    row_id,
)

MOST = 200
DAY_MS = 86_400_000


async def records(call: Call) -> dict[str, Any]:
    """The work of the last days, newest first, with a count of each state."""
    now, name = now_ms(), call.params["project"]
    since, most = now - call.params["days"] * DAY_MS, min(call.params["limit"], MOST)

    def read(conn: Any) -> list[dict[str, Any]]:
        return work.page(conn, projects.find(conn, name) if name else None, since, most, now)

    found = await call.services.store.aread(read)
    counts = {state: sum(one["state"] == state for one in found) for state in work.STATES}
    return {"items": found, "counts": counts}


async def one(call: Call) -> dict[str, Any]:
    """One record with its memories."""
    number, now = call.params["id"], now_ms()
    return await call.services.store.aread(lambda conn: work.one(conn, number, now))


async def check(call: Call) -> dict[str, Any]:
    """Somebody has looked at this version of the result."""
    number, version, now = call.params["id"], call.body["version"], now_ms()
    await call.services.store.awrite(lambda conn: work.check(conn, number, version, now))
    call.services.bus.publish("work_changed", id=number)
    return {"success": True}


async def uncheck(call: Call) -> dict[str, Any]:
    """Take that back."""
    number = call.params["id"]
    await call.services.store.awrite(lambda conn: work.uncheck(conn, number))
    call.services.bus.publish("work_changed", id=number)
    return {"success": True}


VERSION = record({"version": {"type": "integer", "minimum": 0, "maximum": INT64}}, "version")
ENDPOINTS = (
    Endpoint(
        "GET", "/api/work", records, "What agents were asked, and how far it is",
        params=(project(), integer("days", default=30, low=1, high=3650), limit(100, MOST)),
        answers={200: record({"items": {"type": "array"}}, "items")}, area="viewer",
    ),
    Endpoint(
        "GET", "/api/work/{id}", one, "One of them with its memories", params=(row_id(),),
        answers={200: OBJECT, 404: OBJECT}, area="viewer",
    ),
    Endpoint(
        "POST", "/api/work/{id}/check", check, "Mark a result checked", params=(row_id(),),
        body=VERSION, answers={200: OBJECT, 404: OBJECT}, area="viewer",
    ),
    Endpoint(
        "POST", "/api/work/{id}/uncheck", uncheck, "Take that back", params=(row_id(),),
        body=OBJECT, body_optional=True, area="viewer",
    ),
)  # fmt: skip
