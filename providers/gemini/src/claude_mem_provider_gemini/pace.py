"""Requests a minute that a project without billing may make."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable

import anyio

# Models by the beginning of their names, the longer ones first.
PER_MINUTE = (
    ("gemini-flash-lite", 15),
    ("gemini-3.1-flash-lite", 15),
    ("gemini-3-flash-preview", 5),
    ("gemini-flash", 10),
    ("gemini-3.5-flash", 10),
)
UNKNOWN = 5  # the least of them

_next: dict[str, float] = {}


def per_minute(model: str) -> int:
    """Requests a minute that this model takes without billing."""
    name = model.removeprefix("models/")
    return next((rate for start, rate in PER_MINUTE if name.startswith(start)), UNKNOWN)


async def wait_turn(
    key: str,
    model: str,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> None:
    """Return when the next request with this key to this model is due.

    The turn is taken before the wait, so that several at once queue up behind each other.
    """
    mark = hashlib.sha256(f"{key}\0{model}".encode("utf-8", "surrogatepass")).hexdigest()
    now = clock()
    due = max(now, _next.get(mark, now))
    _next[mark] = due + 60 / per_minute(model)
    if due > now:
        await sleep(due - now)
