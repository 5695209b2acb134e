"""What people say of a memory: useful, outdated, wrong, and taking it back."""

from __future__ import annotations

import asyncio
from typing import Any

import apsw
import attrs

from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.pipeline.verifying import Verifier
from claude_mem_core.store import cards, correct, feedback
from claude_mem_core.types import DocKind
from claude_mem_core.worker.routes.browse import KEY, memory_key
from claude_mem_core.worker.spec import OBJECT, Call, Endpoint, Refused, record

WORDS = ("useful", "not-useful", "outdated", "current", "wrong", "right")
ONLY_MEMORIES = "a summary is wrong or right; the others are said of observations"


async def say(call: Call) -> dict[str, Any]:
    """Note what somebody says of a memory; later searches and contexts follow it."""
    (kind, number), word = memory_key(call.params["key"]), call.body["said"]
    if kind is not DocKind.OBSERVATION and word not in ("wrong", "right"):
        raise Refused(409, ONLY_MEMORIES)
    now = now_ms()

    def write(conn: apsw.Connection) -> dict[str, Any]:
        if word in ("wrong", "right"):
            mark = correct.mark_wrong if word == "wrong" else correct.mark_right
            return {"undo": mark(conn, kind, number, now).undo}
        return attrs.asdict(feedback.say(conn, number, word, now))

    said = await call.services.store.awrite(write)
    key = cards.key_text(kind, number)
    changed = [{"key": key, "action": word, "rev": 0, "undo": said.get("undo", 0)}]
    call.services.indexer.wake()
    call.services.bus.publish("memory_changed", changed=changed)
    return {"key": key, "said": word, **said}


async def confirm(call: Call) -> dict[str, Any]:
    """It holds as things are now: no longer to be verified, nor outdated."""
    kind, number = memory_key(call.params["key"])
    if kind is not DocKind.OBSERVATION:
        raise Refused(409, "observations are confirmed; a summary tells what was")
    verifier = Verifier(call.services.store, now_ms)
    await asyncio.to_thread(verifier.confirm, number)
    changed = [{"key": str(number), "action": "confirm", "rev": 0, "undo": 0}]
    call.services.bus.publish("memory_changed", changed=changed)
    return {"key": str(number), "said": "confirm"}


ENDPOINTS = (
    Endpoint(
        "POST", "/api/memories/{key}/confirm", confirm, "Say that a memory still holds",
        params=(KEY,), body=OBJECT, body_optional=True,
        answers={200: record({"key": {"type": "string"}}, "key"), 404: OBJECT, 409: OBJECT},
        area="memory",
    ),
    Endpoint(
        "POST", "/api/memories/{key}/feedback", say, "Say that a memory is useful, outdated, wrong",
        params=(KEY,), body=record({"said": {"enum": list(WORDS)}}, "said"),
        answers={200: record({"key": {"type": "string"}, "said": {"type": "string"}}, "key"),
                 404: OBJECT, 409: OBJECT},
        area="memory",
    ),
)  # fmt: skip
