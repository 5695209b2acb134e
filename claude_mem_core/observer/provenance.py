"""Where the words of an answer come from: what only a foreign source said stays foreign."""

from __future__ import annotations

from collections.abc import Sequence

from claude_mem_core.observer.speech import sentences
from claude_mem_core.observer.text import names
from claude_mem_core.observer.turn import Turn
from claude_mem_core.types import Trust

MOST = 2_000_000  # characters that are searched


def borrowed(turn: Turn) -> tuple[str, ...]:
    """Sentences of the answers with a name that nothing but a foreign source told."""
    foreign = [s.text for s in turn.steps if s.trust is Trust.FOREIGN and s.text]
    if not foreign:
        return ()
    told = _joined(foreign)
    own = _joined([turn.prompt, *(f"{s.path} {s.command} {s.text}" for s in turn.steps
                                  if s.trust is not Trust.FOREIGN)])  # fmt: skip
    said = [s for _, text in turn.answers for s in sentences(text)]
    return tuple(s for s in said if any(_only_in(n, told, own) for n in names(s)))


def _joined(texts: Sequence[str]) -> str:
    return "\n".join(texts)[:MOST].casefold()


def _only_in(name: str, told: str, own: str) -> bool:
    name = name.casefold()
    return name in told and name not in own
