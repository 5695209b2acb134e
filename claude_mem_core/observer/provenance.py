"""Where the words of an answer come from: what only a foreign source said stays foreign."""

from __future__ import annotations

from collections.abc import Sequence

from claude_mem_core.observer.speech import sentences
from claude_mem_core.observer.text import names, words
from claude_mem_core.observer.turn import Turn
from claude_mem_core.types import Trust

MOST = 2_000_000  # characters that are searched
LOOKED_AT = 300_000  # characters whose runs of words are compared
RUN = 6  # words in a row that nobody chooses twice


def borrowed(turn: Turn) -> tuple[str, ...]:
    """Sentences of the answers that nothing but a foreign source can have told.

    They hold a name that is nowhere else, or repeat the source word for word.
    """
    foreign = [s.text for s in turn.steps if s.trust is Trust.FOREIGN and s.text]
    if not foreign:
        return ()
    told = _joined(foreign)
    own = _joined([turn.prompt, *(f"{s.path} {s.command} {s.text}" for s in turn.steps
                                  if s.trust is not Trust.FOREIGN)])  # fmt: skip
    copied = _runs(told) - _runs(own)
    said = [s for _, text in turn.answers for s in sentences(text)]
    return tuple(
        s for s in said
        if any(_only_in(n, told, own) for n in names(s)) or not copied.isdisjoint(_runs(s))
    )  # fmt: skip


def _runs(text: str) -> set[tuple[str, ...]]:
    """All runs of a few words in the beginning of a text."""
    found = words(text[:LOOKED_AT])
    return {tuple(found[i : i + RUN]) for i in range(len(found) - RUN + 1)}


def _joined(texts: Sequence[str]) -> str:
    return "\n".join(texts)[:MOST].casefold()


def _only_in(name: str, told: str, own: str) -> bool:
    name = name.casefold()
    return name in told and name not in own
