"""What belongs to the person: the list, putting memories on it, taking them off."""

from __future__ import annotations

from typing import Any

import apsw
import attrs

from claude_mem_core.errors import InvalidInput
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.store import fetch, personal
from claude_mem_core.worker.spec import (
    ERROR,
    OBJECT,
    Call,
    Endpoint,
    Param,
    Refused,
    Right,
    record,
)

AT_A_TERMINAL = (
    "only a person at a terminal gives a memory to every project: `mem promote {number}`"
)
FROM_OUTSIDE = (
    "memory #{number} came from outside, so it was not promoted; read it with"
    " `mem show {number}`, then `mem promote {number}` asks you"
)
KEY = Param("key", {"type": "string", "pattern": "^[0-9]{1,18}$"}, True, None, "12", "path")
PLACE = {"type": ["integer", "null"], "minimum": 1, "maximum": 1_000}
FLAG = {"type": ["boolean", "null"]}
LISTED = {
    "type": "array",
    "items": record({"id": {"type": "integer"}, "title": {"type": ["string", "null"]}}, "id"),
}
DONE = record({"id": {"type": "integer"}, "place": {"type": "integer"}}, "id")


async def listed(call: Call) -> dict[str, Any]:
    """The memories of the person, in their order."""
    rows = await call.services.store.aread(personal.listed)
    return {"memories": [attrs.asdict(row) for row in rows], "most": personal.MOST}


async def promote(call: Call) -> dict[str, Any]:
    """Give a memory to every project; what came from outside only when that was agreed to."""
    number, body = int(call.params["key"]), call.body or {}
    by_hand(call, number)

    def write(conn: apsw.Connection) -> int:
        trust = fetch.value(conn, "SELECT trust FROM observations WHERE id = ?", number)
        if trust == "foreign" and not body.get("confirmed"):
            raise Refused(409, FROM_OUTSIDE.format(number=number))
        return personal.promote(conn, number, body.get("at"), now_ms())

    try:
        place = await call.services.store.awrite(write)
    except InvalidInput as error:
        raise Refused(409, str(error)) from error
    _tell(call, number, "promote")
    return {"id": number, "place": place}


async def demote(call: Call) -> dict[str, Any]:
    """Make it a memory of its project again."""
    number = int(call.params["key"])
    await call.services.store.awrite(lambda conn: personal.demote(conn, number))
    _tell(call, number, "demote")
    return {"id": number}


def by_hand(call: Call, number: int | str = "ID") -> None:
    """Nobody but a person at a terminal speaks to every session.

    Raises:
        Refused: 403 for all others: agents, scripts, pages, imports.
    """
    if not call.local or not (call.body or {}).get("typed"):
        raise Refused(403, AT_A_TERMINAL.format(number=number))


def _tell(call: Call, number: int, action: str) -> None:
    call.services.indexer.wake()
    changed = [{"key": str(number), "action": action, "rev": 0, "undo": 0}]
    call.services.bus.publish("memory_changed", changed=changed)


ENDPOINTS = (
    Endpoint(
        "GET", "/api/personal", listed, "What belongs to the person, in its order",
        answers={200: record({"memories": LISTED}, "memories")}, area="memory",
    ),
    Endpoint(
        "POST", "/api/personal/{key}", promote, "Give a memory to every project",
        params=(KEY,), body=record({"at": PLACE, "typed": FLAG, "confirmed": FLAG}),
        body_optional=True, answers={200: DONE, 403: ERROR, 404: OBJECT, 409: ERROR},
        right=Right.FULL, area="memory",
    ),
    Endpoint(
        "DELETE", "/api/personal/{key}", demote, "Make it a memory of its project again",
        params=(KEY,), answers={200: DONE, 404: OBJECT}, right=Right.FULL, area="memory",
    ),
)  # fmt: skip
