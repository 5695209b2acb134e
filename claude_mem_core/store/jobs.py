"""Functions that wait to be written, and telling those who wait for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

import apsw
import attrs

Fn = Callable[[apsw.Connection], Any]


@attrs.frozen
class Outcome:
    """What came of one function: a value, or an error."""

    value: Any = None
    error: BaseException | None = None


@attrs.frozen(eq=False)
class Job:
    """One function and who waits for it: a thread's future or a coroutine's."""

    fn: Fn
    future: Future[Any] | asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop | None = None


def settle(batch: Sequence[Job], outcomes: Sequence[Outcome]) -> None:
    """Tell everyone; coroutines are woken once for each event loop, not once each."""
    loops: dict[asyncio.AbstractEventLoop, list[tuple[Job, Outcome]]] = {}
    for job, outcome in zip(batch, outcomes, strict=True):
        if job.loop is None:
            tell(job, outcome)
        else:
            loops.setdefault(job.loop, []).append((job, outcome))
    for loop, pairs in loops.items():
        try:
            loop.call_soon_threadsafe(_tell_all, pairs)
        except RuntimeError:  # the loop is closed: nobody waits any more
            continue


def _tell_all(pairs: Sequence[tuple[Job, Outcome]]) -> None:
    for job, outcome in pairs:
        tell(job, outcome)


def tell(job: Job, outcome: Outcome) -> None:
    """Give who waits for `job` what came of it."""
    future = job.future
    if future.done():
        return
    if outcome.error is None:
        future.set_result(outcome.value)
    else:
        future.set_exception(outcome.error)
