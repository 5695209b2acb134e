"""From a failure to the run that passed: the error, what was found, what was changed."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from claude_mem_core.observer.changes import piece
from claude_mem_core.observer.commands import PROOF
from claude_mem_core.observer.deltas import of_hunks
from claude_mem_core.observer.evidence import Evidence, told
from claude_mem_core.observer.text import clip, comma, unique
from claude_mem_core.observer.turn import Run, Turn


@attrs.frozen
class Chain:
    """A failure with what came of it.

    Attributes:
        fixes: (path, what changed) between the failure and the run that passed.
        found: lines that were looked at between the two.
        passed: the run that passed; None when none did.
    """

    failure: Run
    fixes: tuple[tuple[str, str], ...] = ()
    found: tuple[Evidence, ...] = ()
    passed: Run | None = None

    @property
    def text(self) -> str:
        """As one fact."""
        parts = [clip(problem(self.failure), 300)]
        if self.found:
            parts.append("found: " + clip(told(self.found, 110), 250))
        if self.fixes:
            parts.append(
                "after that " + "; ".join(f"{p}: {clip(t, 170)}" for p, t in self.fixes[:2])
            )
        if self.passed is not None:
            parts.append(f"then {passed(self.passed)}")
        return ". ".join(parts)


def chains(turn: Turn, evidence: Sequence[Evidence]) -> list[Chain]:
    """One chain for each distinct failure that matters, in order."""
    seen: set[tuple[str, str]] = set()
    found = []
    for run in turn.failures:
        key = (run.job.kin, run.outcome.error)
        if key in seen or run.step.agent or _only_tried(turn, run):
            continue
        seen.add(key)
        found.append(_chain(turn, run, evidence))
    return found


def _only_tried(turn: Turn, run: Run) -> bool:
    """A failure while something was tried that was then taken back."""
    inside = any(a.first < run.index <= a.undone for a in turn.attempts)
    earlier = any(r.index < run.index and r.job.kin == run.job.kin for r in turn.failures)
    return inside and earlier


def _chain(turn: Turn, run: Run, evidence: Sequence[Evidence]) -> Chain:
    end = turn.healed(run)
    last = end.index if end else len(turn.steps) + 1
    fixes = []
    for file in turn.changed:
        inside = [h for h in file.hunks if run.index < h.last < last]
        said = "; ".join(unique(filter(None, (piece(d) for d in of_hunks(inside)))))
        if inside and file.existed:
            fixes.append((file.path, said or "changed"))
        elif inside:
            fixes.append((file.path, "new"))
    looked = [e for e in evidence if run.index < e.step.index < last]
    best = sorted(sorted(looked, key=lambda e: -e.score)[:3], key=lambda e: e.step.index)
    return Chain(run, tuple(fixes), tuple(best), end and turn.last_of(end))


def problem(run: Run) -> str:
    """What failed, and the error."""
    result = run.outcome
    where = f" ({result.place})" if result.place and result.place not in result.error else ""
    said = "; ".join(clip(e, 170) for e in result.errors[:2]) or result.counts
    tests = (
        f" [{comma((clip(t, 80) for t in result.tests), 2)}]"
        if result.tests and run.sort in PROOF
        else ""
    )
    return (
        f"`{run.label}` failed{tests}: {said}{where}"
        if said
        else f"`{run.label}` failed{tests}"
    )


def passed(run: Run) -> str:
    """How the run that passed put it."""
    last = (
        clip(run.outcome.lines[-1], 90) if run.outcome.lines and run.sort not in PROOF else ""
    )
    return run.outcome.counts or (f"it gave {last}" if last else f"`{run.label}` passed")
