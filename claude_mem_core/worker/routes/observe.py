"""Having a model observe again what is there: the raw events are kept for that."""

from __future__ import annotations

from typing import Any

from claude_mem_core.errors import UsageError
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.recall import dates
from claude_mem_core.store import again, projects
from claude_mem_core.worker.spec import Call, Endpoint, Right, record, string

NOBODY = "no provider is chosen, so there is no model; run: mem config set provider NAME"


async def observe_again(call: Call) -> dict[str, Any]:
    """Queue turns for the model; what it makes of them replaces what is there."""
    body = call.body or {}
    if call.services.loop.provider() is None and not body.get("dry"):
        raise UsageError(NOBODY)
    since = dates.parse(body["since"]) if body.get("since") else 0

    def queued(conn: Any) -> again.Again:
        named = body.get("project")
        ids = projects.find(conn, named) if named else None
        return again.again(
            conn, now_ms(), session=body.get("session"), since=since, projects=ids,
            everything=bool(body.get("all")), dry=bool(body.get("dry")),
        )  # fmt: skip

    found = await call.services.store.awrite(queued)
    call.services.loop.wake()
    return {"turns": found.turns, "events": found.events}


FILTERS = record(
    {
        "session": string(400), "since": string(40), "project": string(4096),
        "all": {"type": "boolean"}, "dry": {"type": "boolean"},
    }
)  # fmt: skip
DONE = record({"turns": {"type": "integer"}, "events": {"type": "integer"}}, "turns", "events")

ENDPOINTS = (
    Endpoint(
        "POST", "/api/observe/again", observe_again, "Have a model observe turns again",
        body=FILTERS, body_optional=True, answers={200: DONE}, right=Right.FULL, area="queue",
        listed=False,  # whether it is of use depends on the provider, not on the request
    ),
)  # fmt: skip
