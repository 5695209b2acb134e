"""What an observer made is cleaned like everything else before it is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from claude_mem_core.clean.cleaner import Cleaner
from claude_mem_core.types import Batch, Draft, Observed, SummaryDraft, Trust

LONGEST = 20_000  # characters of one field; a memory is small
ITEMS = 60
RANK = {Trust.FOREIGN: 0, Trust.WORK: 1, Trust.USER: 2}


def lowest(classes: Iterable[Trust], otherwise: Trust = Trust.WORK) -> Trust:
    """The lowest of several trust classes."""
    return min(classes, key=RANK.__getitem__, default=otherwise)


def cleaned(observed: Observed, cleaner: Cleaner, batch: Batch) -> Observed:
    """The same memories, cleaned, bounded, with the trust of their evidence."""

    def text(value: str) -> str:
        # Cleaned before it is cut, so that no half of a key is left.
        return cleaner.text(value[: 2 * LONGEST], "answer")[:LONGEST]

    trusts = {stored.id: stored.trust for stored in batch.events}
    drafts = tuple(_draft(d, text, trusts) for d in observed.observations)
    summary = _summary(observed.summary, text) if observed.summary else None
    return attrs.evolve(observed, observations=drafts, summary=summary)


def _draft(draft: Draft, text: Callable[[str], str], trusts: dict[int, Trust]) -> Draft:
    evidence = [trusts[i] for i in draft.events if i in trusts]
    return attrs.evolve(
        draft,
        title=text(draft.title),
        subtitle=text(draft.subtitle),
        narrative=text(draft.narrative),
        facts=tuple(map(text, draft.facts[:ITEMS])),
        concepts=tuple(map(text, draft.concepts[:ITEMS])),
        files_read=tuple(map(text, draft.files_read)),
        files_modified=tuple(map(text, draft.files_modified)),
        trust=lowest([draft.trust, *evidence]),
    )


def _summary(summary: SummaryDraft, text: Callable[[str], str]) -> SummaryDraft:
    names = ("request", "investigated", "learned", "completed", "next_steps", "notes")
    clean: dict[str, Any] = {name: text(getattr(summary, name)) for name in names}
    return attrs.evolve(summary, **clean)
