"""The facts of an observation: exact names, values, errors; the most telling first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from claude_mem_core.observer import corrections, phrases
from claude_mem_core.observer.changes import Change
from claude_mem_core.observer.commands import Sort
from claude_mem_core.observer.corrections import CLAIM, LEFT
from claude_mem_core.observer.evidence import Evidence
from claude_mem_core.observer.measures import wanted
from claude_mem_core.observer.report import report
from claude_mem_core.observer.speech import admits, is_routine
from claude_mem_core.observer.summary import commits
from claude_mem_core.observer.text import clip, names, squash, unique
from claude_mem_core.observer.work import Work, acts
from claude_mem_core.types import Draft

MOST = 12
WHOLE = 2_850  # characters of an observation with everything in it


def facts(found: Work) -> list[str]:
    """All facts of the work; how many an observation takes is for `fitting`."""
    turn = found.turn
    linked = " ".join(c.text for c in found.chains)
    loose = _loose(found, linked)
    user = corrections.said(turn) if corrections.corrected(turn) else []
    return [
        *corrections.refuted(turn, found.replaced), *user[:1],
        *(c.text for c in found.chains[:3]), *_of_changes(found.changes, linked),
        *(m.text for m in found.measured[:2]), *wanted(turn), *(e.text for e in found.ends[:2]),
        *_claims(found), *(f'{LEFT}"{clip(s, 220)}"' for s in found.speech.left[:2]),
        *found.replaced.facts[:2], *_results(found, " ".join([linked, *loose])), *loose,
        *commits(turn), *found.replaced.facts[2:],
    ]  # fmt: skip


def _loose(found: Work, linked: str) -> list[str]:
    """Evidence that no chain and no comparison tells already."""
    compared = {r.index for m in found.measured for r in (m.first, m.last)}
    return [
        e.text for e in _best(found.evidence, 5)
        if e.line not in linked and e.step.index not in compared
    ]  # fmt: skip


def _best(evidence: Sequence[Evidence], most: int) -> list[Evidence]:
    chosen = sorted(evidence, key=lambda e: -e.score)[:most]
    return [e for e in evidence if e in chosen]


def _claims(found: Work) -> list[str]:
    """What the answer says of causes and choices; without changes, all that it says."""
    said = [*found.speech.learned, *(() if found.changes else found.speech.done)]
    said = [s for s in said if not _only_sorry(s) and not is_routine(s)]
    return [
        f'{CLAIM}"{clip(s, 260)}"' for s in _weighty(found, said, 2 if found.changes else 4)
    ]


def _only_sorry(sentence: str) -> bool:
    return admits(sentence) and not names(sentence)


def _weighty(found: Work, said: Sequence[str], most: int) -> list[str]:
    """The sentences that say most of what was worked on, in their order."""
    topics = found.topics
    weighed = [
        (
            min(3, sum(n.casefold() in topics for n in names(s)))
            + 2 * bool(phrases.CAUSE.search(s)),
            -i,
            s,
        )
        for i, s in enumerate(said)
    ]
    chosen = sorted(weighed, reverse=True)[:most]
    return [s for _, _, s in sorted(chosen, key=lambda w: -w[1])]


def _of_changes(changes: Sequence[Change], linked: str) -> list[str]:
    """One fact a file; none for a file whose changes stand with the failure they mended."""
    changes = [
        c
        for c in changes
        if c.remarks or not c.pieces or any(p[:150] not in linked for p in c.bare)
    ]
    if len(changes) <= 7:
        return [clip(c.fact, 640) for c in changes]
    rest = ", ".join(f"{c.path} ({c.verb})" for c in changes[6:])
    return [*(clip(c.fact, 420) for c in changes[:6]), clip(f"Also changed: {rest}", 500)]


def _results(found: Work, known: str) -> list[str]:
    """What the last check said, and what acting commands gave."""
    told = [f"Last check: {found.last_proof}"] if found.last_proof else []
    for run in found.turn.runs:
        if not run.outcome.ok or run.step.agent or not (acts(run) or run.sort is Sort.SCRIPT):
            continue
        lines = [
            line for line in report(run)[-2:] if line not in known and not line.endswith(":")
        ]
        told += [f"`{clip(run.label, 60)}`: {clip('; '.join(lines), 180)}"] if lines else []
    return unique(told)[:6]


def fitting(told: Iterable[str], draft: Draft) -> tuple[str, ...]:
    """As many facts as an observation has room for, the first ones first."""
    files = sum(map(len, (*draft.files_read, *draft.files_modified)))
    room = WHOLE - len(draft.title) - len(draft.subtitle) - len(draft.narrative) - files
    kept: list[str] = []
    for fact in unique(squash(f) for f in told):
        if len(kept) < MOST and len(fact) <= room:
            kept.append(fact)
            room -= len(fact) + 1
    return tuple(kept)
