"""Why a memory is there, and where it was given."""

from __future__ import annotations

from typing import Any

from claude_mem_core.recall.records import parse_key
from claude_mem_core.recall.why import why
from claude_mem_core.worker.spec import KEY, OBJECT, Call, Endpoint, text


async def explain(call: Call) -> dict[str, Any]:
    """Evidence of a memory and where it was given."""
    key = parse_key(call.params["id"])
    return await call.services.store.aread(lambda conn: why(conn, key))


ENDPOINTS = (
    Endpoint(
        "GET", "/api/why", explain, "Evidence of a memory and where it was given",
        params=(text("id", required=True, longest=40, pattern=f"^{KEY}$", help="123, S4 or P7"),),
        answers={200: OBJECT, 404: OBJECT}, area="context",
    ),
)  # fmt: skip
