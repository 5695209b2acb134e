"""POST /hook: the way of every event. No framework, no copy that is not needed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote

from claude_mem_core.errors import MemError
from claude_mem_core.pipeline.excuse import NotStored
from claude_mem_core.types import Delivery, Output
from claude_mem_core.worker.auth import SOCKET_BODY
from claude_mem_core.worker.protocol import answer_at_once
from claude_mem_core.worker.reading import read_body
from claude_mem_core.worker.refusal import Refused
from claude_mem_core.worker.replies import Headers, Receive, Scope
from claude_mem_core.worker.state import WorkerState

if TYPE_CHECKING:
    from claude_mem_core.pipeline.services import Services

log = logging.getLogger(__name__)

START_S = 3.0  # as long as the most patient hook waits
NAMES = {b"x-mem-host", b"x-mem-event", b"x-mem-key", b"x-mem-at", b"x-mem-size", b"x-mem-env"}
LONGEST = 8192


async def answer(
    scope: Scope, receive: Receive, state: WorkerState, services: Services | None
) -> None:
    """Hand one delivery to the pipeline and send back what the hook shall print."""
    if scope["method"] != "POST":
        raise Refused(405, "POST a hook's input here")
    body = await read_body(receive, SOCKET_BODY)
    delivery = delivery_of(scope["headers"], body)
    if services is None:
        raise Refused(503, "the worker is starting")
    kept = services.recorder.kept
    try:
        output = await services.deliverer.handle(delivery)
    except NotStored as error:
        state.note("store", str(error))
        log.warning("a delivery has to wait: %s", type(error.__cause__).__name__)
        head, out = refused(error.told)
        await answer_at_once(scope["state"]["cycle"], head, out)
        return
    except MemError as error:
        state.note("hook", str(error))
        log.warning("a delivery has to wait: %s", type(error).__name__)
        raise Refused(503, str(error)) from error
    state.note("hook", None)
    if services.recorder.kept != kept:  # some hooks write nothing: they prove nothing
        state.note("store", None)
    head, out = worded(output)
    await answer_at_once(scope["state"]["cycle"], head, out)


async def until_ready(state: WorkerState) -> None:
    """Wait for the services of a starting worker."""
    if state.ready.is_set():
        return
    try:
        await asyncio.wait_for(state.ready.wait(), START_S)
    except TimeoutError as error:
        raise Refused(503, "the worker is starting") from error


def delivery_of(headers: Headers, body: bytes) -> Delivery:
    """The delivery that a request carries.

    Raises:
        Refused: 400, a header is missing or odd.
    """
    given = {name: value for name, value in headers if name in NAMES}
    host = _text(given, b"x-mem-host")
    if not host:
        raise Refused(400, "x-mem-host is missing")
    at_ms = _number(given, b"x-mem-at") or time.time_ns() // 1_000_000
    return Delivery(
        host=host,
        event=_text(given, b"x-mem-event"),
        stdin=body,
        env=environment(given.get(b"x-mem-env", b"")),
        key=_text(given, b"x-mem-key"),
        at_ms=at_ms,
        size=_number(given, b"x-mem-size") or len(body),
    )


def _text(given: Mapping[bytes, bytes], name: bytes) -> str:
    raw = given.get(name, b"")
    if len(raw) > LONGEST:
        raise Refused(400, f"{name.decode()} is too long")
    return _unquoted(raw)


def _unquoted(raw: bytes) -> str:
    text = raw.decode("latin-1")
    return unquote(text, errors="replace") if "%" in text else text


def _number(given: Mapping[bytes, bytes], name: bytes) -> int:
    raw = given.get(name, b"0")
    if not raw.isdigit() or len(raw) > 18:
        raise Refused(400, f"{name.decode()} must be a whole number")
    return int(raw)


def environment(raw: bytes) -> dict[str, str]:
    """`NAME=pct-encoded;NAME=...` as a dictionary; the pipeline reads known names only."""
    pairs = (part.partition(b"=") for part in raw[:LONGEST].split(b";") if part)
    return {_unquoted(name): _unquoted(value) for name, _, value in pairs}


def worded(output: Output) -> tuple[bytes, bytes]:
    """Head and body of the answer that carries `output` to the hook."""
    out, err = _encoded(output.stdout), _encoded(output.stderr)
    head = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nx-mem-exit: %d\r\n"
    head %= (len(out) + len(err), output.exit)
    if err:
        head += b"x-mem-stderr: %d\r\n" % len(err)
    return head, out + err


def refused(told: Output) -> tuple[bytes, bytes]:
    """Head and body of the answer that leaves the event to the hook.

    The body is what the hook may print all the same.
    """
    out = _encoded(told.stdout)
    head = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: %d\r\nx-mem-told: %d\r\n"
    return head % (len(out), len(out)), out


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace") if text else b""
