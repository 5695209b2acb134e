"""From a turn to its memories: rules instead of a model; same events, same memories."""

from __future__ import annotations

from claude_mem_core.observer.drafts import drafts
from claude_mem_core.observer.skips import skips
from claude_mem_core.observer.speech import is_routine
from claude_mem_core.observer.summary import summary
from claude_mem_core.observer.turn import read
from claude_mem_core.observer.work import Work, work
from claude_mem_core.types import Batch, Observed, SummaryDraft


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
    polite = (not turn.prompt or is_routine(turn.prompt)) and is_routine(turn.answer or "ok")
    if polite and not turn.steps:
        return None
    return summary(
        turn, found.changes, found.chains, found.ends, found.evidence, found.rules, found.speech
    )
