"""The built-in observer: rules instead of a model; same events, same memories."""

from __future__ import annotations

import asyncio

from claude_mem_core.observer.drafts import drafts
from claude_mem_core.observer.skips import skips
from claude_mem_core.observer.speech import is_routine
from claude_mem_core.observer.summary import summary
from claude_mem_core.observer.turn import read
from claude_mem_core.observer.work import Work, work
from claude_mem_core.types import Batch, Observed, SummaryDraft


class BuiltinObserver:
    """An `Observer` that needs nothing: no model, no network, no key."""

    async def observe(self, batch: Batch) -> Observed:
        """Observe off the event loop: a long turn must not hold up a hook."""
        return await asyncio.to_thread(observe, batch)

    async def aclose(self) -> None:
        """Nothing to close."""


def observe(batch: Batch) -> Observed:
    """What is worth remembering of a turn. Pure: equal batches give equal answers."""
    turn = read(batch)
    found = work(turn)
    made = drafts(found)
    told = _summary(found) if batch.finished else None
    return Observed(observations=made, summary=told, skipped=skips(turn, made))


def _summary(found: Work) -> SummaryDraft | None:
    """The summary; none for an exchange of pleasantries."""
    turn = found.turn
    if (
        not turn.steps
        and (not turn.prompt or is_routine(turn.prompt))
        and is_routine(turn.answer or "ok")
    ):
        return None
    return summary(
        turn, found.changes, found.chains, found.ends, found.evidence, found.rules, found.speech
    )
