"""What was tried and taken back, and what it had done: never told as if it held."""

from __future__ import annotations

import attrs

from claude_mem_core.observer.changes import tried, tried_core
from claude_mem_core.observer.files import Attempt
from claude_mem_core.observer.paths import base
from claude_mem_core.observer.text import clip, comma
from claude_mem_core.observer.turn import Run, Turn, akin


@attrs.frozen
class DeadEnd:
    """Attempts that were taken back together, and the run that judged them.

    Attributes:
        what: the changes, in words.
        effect: what the run after them showed; empty when nothing was run.
    """

    paths: tuple[str, ...]
    what: str
    core: str
    effect: str
    run: Run | None
    steps: tuple[int, ...]

    @property
    def text(self) -> str:
        """As a fact: the words that it was taken back stand first."""
        effect = f"; it did not help: {self.effect}" if self.effect else ""
        return f"Tried and reverted: {self.what}{effect}"

    @property
    def title(self) -> str:
        """For an observation of its own."""
        return f"Dead end, reverted: {self.core or self.what} in {base(self.paths[0])}"


def dead_ends(turn: Turn) -> list[DeadEnd]:
    """The dead ends of a turn, in order; attempts undone together are one."""
    groups: dict[int, list[Attempt]] = {}
    for attempt in turn.attempts:
        groups.setdefault(attempt.undone, []).append(attempt)
    found = [_dead_end(turn, group) for group in groups.values()]
    return [d for d in found if d is not None]


def _dead_end(turn: Turn, group: list[Attempt]) -> DeadEnd | None:
    first, last = min(a.first for a in group), max(a.undone for a in group)
    what = "; ".join(f"{a.path}: {t}" for a in group if (t := tried(a)))
    if not what:
        return None
    judged = [r for r in turn.failures if first < r.index <= last]
    run = judged[-1] if judged else None
    return DeadEnd(
        tuple(dict.fromkeys(a.path for a in group)), clip(what, 420),
        next(filter(None, map(tried_core, group)), ""), _effect(turn, first, run), run,
        tuple(sorted({first, last, *([run.index] if run else [])})),
    )  # fmt: skip


def _effect(turn: Turn, first: int, run: Run | None) -> str:
    if run is None:
        return ""
    before = [r for r in turn.failures if r.index < first and akin(r, run)]
    old = before[-1].outcome if before else None
    new = run.outcome
    broke = [t for t in new.tests if not old or t not in old.tests]
    said = new.counts or clip(new.error, 120)
    was = f" (before: {old.counts})" if old and old.counts and old.counts != new.counts else ""
    also = f"; it broke {comma(map(_test, broke), 4)}" if broke and old else ""
    return f"`{run.label}` still failed, {said}{was}{also}"


def _test(name: str) -> str:
    return base(name).rsplit("::", 1)[-1]
