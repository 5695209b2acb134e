"""The lines of a turn's output and reading that bear on what was said and done."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import attrs

from claude_mem_core.observer.candidates import Candidate, candidates
from claude_mem_core.observer.speech import is_order
from claude_mem_core.observer.steps import Act, Step
from claude_mem_core.observer.text import clip, names, squash, words
from claude_mem_core.observer.turn import Turn
from claude_mem_core.types import Trust

ENOUGH = 3.0
PER_STEP = 2
LONGEST = 200
STAMP = re.compile(
    r"^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,]*(?:Z|[+-]\d\d:?\d\d)?\]?\s+(?:\[?(?:INFO|DEBUG|TRACE)\]?\s+)?"
)
DULL = frozenset(
    [
        "this",
        "that",
        "with",
        "from",
        "have",
        "been",
        "were",
        "will",
        "would",
        "could",
        "should",
        "there",
        "their",
        "which",
        "when",
        "then",
        "than",
        "they",
        "them",
        "what",
        "into",
        "onto",
        "over",
        "under",
        "after",
        "before",
        "about",
        "some",
        "each",
        "every",
        "other",
        "only",
        "also",
        "just",
        "more",
        "most",
        "such",
        "very",
        "same",
        "here",
        "dass",
        "eine",
        "einer",
        "einen",
        "nicht",
        "auch",
        "oder",
        "wird",
        "werden",
        "sind",
        "haben",
        "noch",
        "aber",
        "nach",
        "über",
        "beim",
        "wenn",
        "dann",
        "para",
        "como",
        "mais",
        "isso",
        "este",
        "esta",
        "pelo",
        "pela",
        "quando",
        "file",
        "files",
        "line",
        "lines",
        "code",
        "test",
        "tests",
        "true",
        "false",
        "null",
        "none",
        "return",
        "const",
    ]
)


@attrs.frozen
class Evidence:
    """One line that bears on the turn, with where it comes from."""

    step: Step
    source: str
    line: str
    score: float

    @property
    def text(self) -> str:
        """The line with its source, in the form of a report."""
        said = "" if self.step.act is Act.RUN else " says"
        return f"{self.source}{said}: {self.line}" if self.source else self.line


def told(evidence: Sequence[Evidence], limit: int) -> str:
    """Several lines in one, each source named once."""
    groups: dict[str, list[str]] = {}
    for item in evidence:
        said = "" if item.step.act is Act.RUN or not item.source else " says"
        groups.setdefault(f"{item.source}{said}", []).append(clip(item.line, limit))
    return "; ".join(
        f"{source}: {' / '.join(lines)}" if source else "; ".join(lines)
        for source, lines in groups.items()
    )


class Finder:
    """Weighs lines by the names and words they share with what was said and done."""

    def __init__(self, turn: Turn, topics: Iterable[str]) -> None:
        said = list(topics)
        self._names = {n.casefold() for text in said for n in names(text)} | turn.keys
        self._words = {
            w[:7] for text in (*said, turn.prompt, turn.answer) for w in _content(text)
        }
        self._all = list(candidates(turn, self._names))
        self._spread = Counter(n for c in self._all for n in _own_names(c))

    def best(self, most: int, *, foreign: bool = False) -> list[Evidence]:
        """Up to `most` lines, in the order of the turn."""
        wanted = [c for c in self._all if (c.step.trust is Trust.FOREIGN) is foreign]
        if foreign:
            wanted = [c for c in wanted if not is_order(c.line)]
        weighed = [(self._score(c), -i, c) for i, c in enumerate(wanted)]
        weighed = [w for w in weighed if w[0] >= ENOUGH]
        chosen = _spread_out(sorted(weighed, key=lambda w: (-w[0], -w[1])), most)
        chosen.sort(key=lambda w: -w[1])
        return [
            Evidence(c.step, c.source, clip(STAMP.sub("", c.line), LONGEST), s)
            for s, _, c in chosen
        ]

    def _score(self, candidate: Candidate) -> float:
        shared = [n for n in _own_names(candidate) if n in self._names]
        score = sum(
            3.0 if self._spread[n] <= 3 else 1.2 if self._spread[n] <= 10 else 0.4
            for n in shared
        )
        text = f"{candidate.source} {candidate.line}"
        common = {w[:7] for w in _content(text)} & self._words
        dull = 2.0 if candidate.line.rstrip().endswith(":") else 0.0
        return min(score, 7.0) + 0.7 * min(len(common), 4) + candidate.bonus - dull


def _own_names(candidate: Candidate) -> set[str]:
    found = {n.casefold() for n in names(candidate.line)}
    return found | {part for n in found for part in re.split(r"[^\w]+", n) if len(part) > 3}


def _content(text: str) -> set[str]:
    return {w for w in words(text) if len(w) > 3 and w not in DULL and not w.isdigit()}


def _spread_out(
    weighed: list[tuple[float, int, Candidate]], most: int
) -> list[tuple[float, int, Candidate]]:
    """The best, first one of each step, then a second one; no line twice."""
    chosen: list[tuple[float, int, Candidate]] = []
    per_step: Counter[int] = Counter()
    seen: set[str] = set()
    for allowed in range(1, PER_STEP + 1):
        for item in weighed:
            step, key = item[2].step.index, squash(item[2].line).casefold()
            if len(chosen) < most and per_step[step] < allowed and key not in seen:
                chosen.append(item)
                per_step[step] += 1
                seen.add(key)
    return chosen
