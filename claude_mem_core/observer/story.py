"""The narrative of a turn: problem, what was found, what was changed, how it ended.

Short pieces of evidence, joined by our own words: a report, never an instruction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from claude_mem_core.observer.chains import Chain, passed
from claude_mem_core.observer.changes import Change
from claude_mem_core.observer.deadends import DeadEnd
from claude_mem_core.observer.evidence import Evidence
from claude_mem_core.observer.measures import Measure
from claude_mem_core.observer.text import around, clip, comma, names

LONGEST = 900
SNIPPET = 78


def story(
    chains: Sequence[Chain], evidence: Sequence[Evidence], changes: Sequence[Change],
    ends: Sequence[DeadEnd], measured: Sequence[Measure], result: str,
) -> str:  # fmt: skip
    """The turn in a few sentences; empty when there is nothing to tell."""
    parts = [
        *_problems(chains), *_found(evidence), *_changed(changes), *_tried(ends), *_effects(measured),
    ]  # fmt: skip
    return _joined(parts, f"In the end {result}." if result else "")


def _joined(parts: Sequence[str], end: str) -> str:
    """All parts, each with a fair share of the room, and always the end."""
    share = max(170, (LONGEST - len(end)) // max(1, len(parts)))
    spare = LONGEST - len(end)
    told = []
    for at, part in enumerate(parts):
        room = max(share, spare - sum(min(len(p), share) for p in parts[at + 1 :]))
        text = clip(part, min(room, spare)).rstrip(" .;") + "."
        if spare > 60:
            told.append(text)
            spare -= len(text) + 1
    return " ".join([*told, *([end] if end else [])])


def snippet(text: str, limit: int = SNIPPET) -> str:
    """The part of a line about its most telling name."""
    if len(text) <= limit:
        return text
    telling = sorted(names(text), key=lambda n: (-_rarity(n), text.find(n)))
    at = text.find(telling[0]) if telling else 0
    return clip(around(text, at, at + len(telling[0]) if telling else 0, limit), limit + 20)


def _rarity(name: str) -> int:
    return (
        bool(re.search(r"\d", name))
        + 2 * bool(re.search(r"[A-Z_]", name[1:]))
        + min(len(name), 20) // 8
    )


def _problems(chains: Sequence[Chain]) -> list[str]:
    told = []
    for chain in chains[:3]:
        error = snippet(chain.failure.outcome.error, 100)
        ended = "" if chain.passed else ", and nothing later shows it passing"
        told.append(
            f"Running `{clip(chain.failure.label, 50)}` gave {error or 'a failure'}{ended}"
        )
    return told


def _found(evidence: Sequence[Evidence]) -> list[str]:
    best = sorted(sorted(evidence, key=lambda e: -e.score)[:3], key=lambda e: e.step.index)
    groups: dict[str, list[str]] = {}
    for item in best:
        groups.setdefault(clip(item.source, 60), []).append(snippet(item.line))
    pieces = [
        f"{s} showed {' and '.join(lines)}" if s else " and ".join(lines)
        for s, lines in groups.items()
    ]
    return ["Looking into it, " + "; ".join(pieces)] if pieces else []


def _changed(changes: Sequence[Change]) -> list[str]:
    pieces = []
    for change in changes[:5]:
        if change.verb == "changed" and change.short:
            pieces.append(f"in {change.path} {snippet(change.short, 130)}")
        elif change.short:
            pieces.append(f"{change.verb} file {change.path} with {snippet(change.short, 70)}")
        else:
            pieces.append(f"{change.path} ({change.verb})")
    more = [c.path for c in changes[5:]]
    rest = [f"also {comma(more, 4)}"] if more else []
    remarks = [f"the code notes: {clip(r, 90)}" for c in changes for r in c.remarks[:1]][:1]
    return ["What changed: " + "; ".join([*pieces, *rest, *remarks])] if pieces else []


def _tried(ends: Sequence[DeadEnd]) -> list[str]:
    return [clip(e.text, 330) for e in ends[:2]]


def _effects(measured: Sequence[Measure]) -> list[str]:
    return [f"Measured with {clip(m.label, 40)}: {clip(m.change, 110)}" for m in measured[:2]]


def outcome_of(chains: Sequence[Chain], last: str) -> str:
    """How the turn ended, by its last proof."""
    if last:
        return last
    done = [c for c in chains if c.passed]
    return passed(done[-1].passed) if done and done[-1].passed else ""
