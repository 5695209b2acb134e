"""Events that deserve no memory, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable

from claude_mem_core.observer.commands import QUIET, Sort
from claude_mem_core.observer.steps import Act, Step
from claude_mem_core.observer.turn import Run, Turn
from claude_mem_core.types import Draft, Skip


def skips(turn: Turn, drafts: Iterable[Draft]) -> tuple[Skip, ...]:
    """Routine noise that no draft builds on."""
    used = {event for draft in drafts for event in draft.events}
    runs = {r.index: r for r in turn.runs}
    found = ((s, _reason(s, runs.get(s.index))) for s in turn.steps if s.event_id not in used)
    return tuple(
        Skip(event_id=step.event_id, reason=reason) for step, reason in found if reason
    )


def _reason(step: Step, run: Run | None) -> str:
    if step.interrupted or (run and run.step.interrupted):
        return "interrupted"
    if run is not None:
        return _of_run(run)
    if step.act is Act.SEARCH:
        return "routine: search without result" if _is_empty(step) else "routine: listing"
    if step.act is Act.READ and step.failed:
        return "routine: file not there"
    if step.act is Act.PLAN:
        return "routine: plan"
    return "step of a sub-agent" if step.agent and not step.edits else ""


def _of_run(run: Run) -> str:
    if run.sort in QUIET:
        return "routine: looking around"
    if run.sort in (Sort.SEARCH, Sort.HISTORY) and not run.outcome.lines:
        return "routine: search without result"
    return "step of a sub-agent" if run.step.agent and run.sort <= Sort.HISTORY else ""


def _is_empty(step: Step) -> bool:
    text = step.text.strip()
    return (
        step.failed
        or not text
        or text in ("0", "content", "No matches found", "No files found")
    )
