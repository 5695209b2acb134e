"""GET /stream: what happens, as it happens, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.responses import StreamingResponse

from claude_mem_core.pipeline.bus import Notice
from claude_mem_core.worker.routes.info import projects_of
from claude_mem_core.worker.routes.queue import status_now
from claude_mem_core.worker.spec import OBJECT, Call, Endpoint, Refused

MOST = 32
PING_S = 15.0
STATUS_AFTER = {"observation_queued", "summarize_queued", "new_observation", "new_summary"}


async def stream(call: Call) -> StreamingResponse:
    """Open a stream. It begins with `initial_load` and `processing_status`."""
    if call.worker.streams >= MOST:
        raise Refused(503, f"{MOST} streams are open already")
    headers = {"x-accel-buffering": "no"}
    return StreamingResponse(_events(call), media_type="text/event-stream", headers=headers)


async def _events(call: Call) -> AsyncIterator[bytes]:
    call.worker.streams += 1
    call.worker.waiting.pop(call.number, None)  # it waits for events, not for us
    try:
        with call.services.bus.subscribe() as notices:
            yield await _first(call)
            yield event("processing_status", await status_now(call))
            async for notice in _until_stopped(call, notices):
                yield await _worded(call, notice)
    finally:
        call.worker.streams -= 1


async def _first(call: Call) -> bytes:
    found = await call.services.store.aread(lambda conn: projects_of(conn, None))
    return event("initial_load", found)


async def _worded(call: Call, notice: Notice | None) -> bytes:
    if notice is None:
        return b": still here\n\n"
    told = event(notice.type, notice.data)
    if notice.type in STATUS_AFTER:
        told += event("processing_status", await status_now(call))
    return told


async def _until_stopped(call: Call, notices: Any) -> AsyncIterator[Notice | None]:
    """Notices, and None every 15 s without one, until the worker stops."""
    stopping = asyncio.ensure_future(call.worker.stopping.wait())
    pulling = asyncio.ensure_future(notices.receive())
    try:
        while not stopping.done():
            await asyncio.wait(
                {pulling, stopping}, timeout=PING_S, return_when=asyncio.FIRST_COMPLETED
            )
            if pulling.done():
                notice = pulling.result()
                pulling = asyncio.ensure_future(notices.receive())
                yield notice
            elif not stopping.done():
                yield None
    finally:
        stopping.cancel()
        pulling.cancel()


def event(name: str, data: dict[str, Any]) -> bytes:
    """One event; its data is one line of JSON, so that no text can forge another."""
    line = json.dumps({"type": name, **data}, ensure_ascii=True, separators=(",", ":"))
    return f"event: {name}\ndata: {line}\n\n".encode("ascii")


ENDPOINTS = (
    Endpoint(
        "GET", "/stream", stream, "What happens, as server-sent events",
        answers={200: OBJECT}, media="text/event-stream", area="viewer",
        listed=False,
    ),
)
