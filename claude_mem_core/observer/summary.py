"""The summary of a finished turn: request, investigated, learned, completed, next steps."""

from __future__ import annotations

from collections.abc import Sequence

from claude_mem_core.observer.chains import Chain, problem
from claude_mem_core.observer.changes import Change
from claude_mem_core.observer.commands import PASSIVE, PROOF, Sort
from claude_mem_core.observer.deadends import DeadEnd
from claude_mem_core.observer.evidence import Evidence
from claude_mem_core.observer.report import report
from claude_mem_core.observer.speech import Speech, join
from claude_mem_core.observer.steps import Act
from claude_mem_core.observer.text import clip, comma, unique
from claude_mem_core.observer.turn import Turn
from claude_mem_core.types import SummaryDraft

WHOLE = 3_800  # characters of a summary


def summary(
    turn: Turn, changes: Sequence[Change], chains: Sequence[Chain], ends: Sequence[DeadEnd],
    evidence: Sequence[Evidence], rules: Sequence[str], speech: Speech,
) -> SummaryDraft:  # fmt: skip
    """The summary of the turn; the answer's sentences are shared out among its fields."""
    said = [f'The user: "{clip(r, 200)}"' for r in rules]
    room = Room(WHOLE)
    return SummaryDraft(
        request=room.take(clip(turn.prompt, 800)),
        learned=room.join([*speech.learned, *said], 900),
        completed=room.join([*speech.done, *_work(turn, changes)], 1000),
        next_steps=room.join(speech.left, 600),
        notes=room.join([*(e.text for e in ends), *_fault(turn)], 500),
        investigated=room.join(_investigated(turn, chains, evidence), 900),
        files_read=tuple(read_files(turn)),
        files_edited=tuple(f.path for f in turn.changed),
        prompt_number=max((e.prompt_number for e in turn.batch.events), default=0),
        events=tuple(e.id for e in turn.batch.events),
    )


class Room:
    """What is left of a summary's length."""

    def __init__(self, chars: int) -> None:
        self.left = chars

    def take(self, text: str) -> str:
        """Count `text` in."""
        self.left -= len(text)
        return text

    def join(self, parts: Sequence[str], most: int) -> str:
        """Whole sentences, up to `most` characters and to what is left."""
        limit = min(most, self.left)
        return self.take(join(parts, limit)) if limit > 60 else ""


def _fault(turn: Turn) -> list[str]:
    return [f"The turn ended with an error: {clip(turn.fault, 200)}"] if turn.fault else []


def read_files(turn: Turn, most: int = 10) -> list[str]:
    """Files that were read and not changed, by the agent itself."""
    changed = {f.path for f in turn.changed}
    paths = [
        s.path for s in turn.steps
        if s.act is Act.READ and not s.failed and not s.agent and s.path and s.path not in changed
    ]  # fmt: skip
    return unique(paths)[:most]


def _investigated(
    turn: Turn, chains: Sequence[Chain], evidence: Sequence[Evidence]
) -> list[str]:
    looked = read_files(turn, 6)
    parts = [f"Looked at {comma(looked, 6)}"] if looked else []
    parts += [clip(problem(c.failure), 240) for c in chains[:3]]
    parts += [clip(e.text, 200) for e in evidence[:5]]
    known = " ".join(parts)
    return unique([*parts, *(t for t in _ran(turn) if t.split("`: ")[-1] not in known)])


def _ran(turn: Turn) -> list[str]:
    """Commands that did or measured something, each with its last word."""
    told = []
    for run in turn.runs:
        proof = run.sort in PROOF and not run.measures
        quiet = run.sort in PASSIVE or proof or run.sort in (Sort.SAVE, Sort.UNDO, Sort.FILES)
        if quiet or not run.outcome.ok or run.step.agent:
            continue
        lines = report(run)
        if lines:
            told.append(f"`{clip(run.label, 50)}`: {clip(lines[-1], 120)}")
    return told


def _work(turn: Turn, changes: Sequence[Change]) -> list[str]:
    parts = []
    if changes:
        parts.append(f"Changed: {comma((c.path for c in changes), 8)}")
    proofs = [
        r
        for r in turn.runs
        if r.outcome.ok and r.sort in PROOF and r.outcome.counts and not r.step.agent
    ]
    if proofs:
        parts.append(f"Last check: {proofs[-1].outcome.counts}")
    return parts + commits(turn)


def commits(turn: Turn) -> list[str]:
    """Commits and pushes, with hash and subject."""
    told = []
    for run in turn.runs:
        if (
            run.sort is Sort.SAVE
            and run.outcome.ok
            and run.outcome.lines
            and not run.step.agent
        ):
            told.append(f"{_verb(run.job.main.words)}: {clip(run.outcome.lines[-1], 120)}")
    return told


def _verb(words: Sequence[str]) -> str:
    verbs = {
        "commit": "Committed",
        "push": "Pushed",
        "merge": "Merged",
        "tag": "Tagged",
        "pull": "Pulled",
        "rebase": "Rebased",
    }
    return next((verbs[w] for w in words[1:4] if w in verbs), "Saved")
