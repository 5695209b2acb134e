"""The lines of a turn's output and reading that bear on what was said and done."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import attrs

from claude_mem_core.observer import code
from claude_mem_core.observer.changes import PROSE
from claude_mem_core.observer.commands import PROOF, QUIET, Sort
from claude_mem_core.observer.deltas import name_of
from claude_mem_core.observer.outcomes import ERRORS
from claude_mem_core.observer.report import pairs, report
from claude_mem_core.observer.speech import is_order
from claude_mem_core.observer.steps import Act, Step
from claude_mem_core.observer.text import clip, names, squash, words
from claude_mem_core.observer.turn import Run, Turn
from claude_mem_core.types import Trust

ENOUGH = 3.0
PER_STEP = 2
LONGEST = 200
FILE_LINES = 4_000  # lines of files that are looked at in one turn
HIT = re.compile(r"^([^\s:]+\.\w+):(\d+)[:-]\s*(.*)$")
ROW = re.compile(r"^([0-9a-f]{7,12})\s+(.+)$")
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


@attrs.frozen
class _Candidate:
    step: Step
    source: str
    line: str
    bonus: float


class Finder:
    """Weighs lines by the names and words they share with what was said and done."""

    def __init__(self, turn: Turn, topics: Iterable[str]) -> None:
        said = list(topics)
        self._names = {n.casefold() for text in said for n in names(text)} | turn.keys
        self._words = {
            w[:7] for text in (*said, turn.prompt, turn.answer) for w in _content(text)
        }
        self._all = list(_candidates(turn, self._names))
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

    def _score(self, candidate: _Candidate) -> float:
        shared = [n for n in _own_names(candidate) if n in self._names]
        score = sum(
            3.0 if self._spread[n] <= 3 else 1.2 if self._spread[n] <= 10 else 0.4
            for n in shared
        )
        text = f"{candidate.source} {candidate.line}"
        common = {w[:7] for w in _content(text)} & self._words
        dull = 2.0 if candidate.line.rstrip().endswith(":") else 0.0
        return min(score, 7.0) + 0.7 * min(len(common), 4) + candidate.bonus - dull


def _own_names(candidate: _Candidate) -> set[str]:
    found = {n.casefold() for n in names(candidate.line)}
    return found | {part for n in found for part in re.split(r"[^\w]+", n) if len(part) > 3}


def _content(text: str) -> set[str]:
    return {w for w in words(text) if len(w) > 3 and w not in DULL and not w.isdigit()}


def _spread_out(
    weighed: list[tuple[float, int, _Candidate]], most: int
) -> list[tuple[float, int, _Candidate]]:
    """The best, first one of each step, then a second one; no line twice."""
    chosen: list[tuple[float, int, _Candidate]] = []
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


def _candidates(turn: Turn, keys: set[str]) -> Iterator[_Candidate]:
    runs = {r.index: r for r in turn.runs}
    edited = {f.path for f in turn.changed}
    most = max(40, FILE_LINES // max(1, sum(s.act is Act.READ for s in turn.steps)))
    for step in turn.steps:
        if step.agent or step.interrupted:
            continue
        if step.index in runs:
            yield from _of_run(turn, runs[step.index])
        elif step.act is Act.READ and not step.failed and step.path not in edited:
            yield from _of_file(step, keys, most)
        elif step.act is Act.SEARCH and not step.failed:
            yield from _of_hits(step, edited)
        elif step.act in (Act.ASK, Act.FETCH) and not step.failed:
            yield from _of_answer(step)


def _of_run(turn: Turn, run: Run) -> Iterator[_Candidate]:
    step = run.step
    if (
        (run.sort in PROOF and not run.measures)
        or run.sort in UNASKED
        or not run.outcome.ok
        or _is_stat(run)
    ):
        return
    lines = _together(report(run))
    near = 1.0 if _before_change(turn, step) else 0.0
    for line in lines:
        hit = HIT.match(line)
        source = "" if hit or " answered " in line else _source(run)
        cited = (
            run.sort is Sort.HISTORY
            and (row := ROW.match(line))
            and row.group(1) in turn.answer
        )
        bonus = (
            near
            + (2.0 if cited else 0.0)
            + (2.0 if len(lines) <= 2 and run.sort not in QUIET | {Sort.DEPLOY} else 0.0)
            - (run.sort in QUIET)
        )
        loud = any(p.search(line) for p in ERRORS[:4]) or "ERROR" in line or "CRITICAL" in line
        yield _Candidate(step, source, line, bonus + (3.0 if loud else 0.0))


def _together(lines: list[str]) -> list[str]:
    """Two or three short answers as one: they were asked for together."""
    short = (
        1 < len(lines) <= 3 and sum(map(len, lines)) < 150 and not any(map(HIT.match, lines))
    )
    return ["; ".join(lines)] if short else lines


UNASKED = {Sort.SAVE, Sort.UNDO, Sort.FILES, Sort.STAGE, Sort.INSTALL}


def _is_stat(run: Run) -> bool:
    """Git's own view of the work tree: it says nothing that the edits do not say."""
    words = run.job.main.words
    return words[:1] == ("git",) and (
        words[1:2] in (("status",), ("branch",)) or "--stat" in words or words[1:2] == ("diff",)
    )


def _source(run: Run) -> str:
    """The command, or where it asked, and what the agent said it was for."""
    name = run.label
    if run.sort is Sort.DATABASE:
        name = (
            " ".join(w for w in run.job.main.args[:2] if " " not in w) or run.job.main.program
        )
    note = run.step.note
    plain = (
        len(note.split()) < 4
        or note.casefold().startswith(("run ", "call ", "execute "))
        or "(" in name
    )
    return name if plain else f"{name} ({clip(note, 50)})"


def _before_change(turn: Turn, step: Step) -> bool:
    """Whether a lasting change followed soon: the step may have shown the way."""
    return step.index + 1 in turn.lasting or step.index + 2 in turn.lasting


def _of_file(step: Step, keys: set[str], most: int) -> Iterator[_Candidate]:
    prose = bool(PROSE.search(step.path))
    for line in step.text.split("\n", most)[:most]:
        found = {n.casefold() for n in names(line)} if line.strip() else set()
        if found & keys and code.weight(line) > 1 and not (prose and is_order(line)):
            remark = code.comment(line)
            yield _Candidate(
                step, step.path, code.shown(remark or line), _file_bonus(line, remark)
            )


def _file_bonus(line: str, remark: str) -> float:
    """Comments explain; a bare definition only repeats a name."""
    if remark:
        return 0.5
    return -3.0 if name_of(line) and len(line) < 60 else -0.5


def _of_hits(step: Step, edited: set[str]) -> Iterator[_Candidate]:
    for line in step.text.split("\n")[:200]:
        if (hit := HIT.match(line)) and hit.group(1) not in edited:
            yield _Candidate(step, hit.group(1), code.shown(hit.group(3)), -0.5)


def _of_answer(step: Step) -> Iterator[_Candidate]:
    said = step.server or step.tool
    lines = [line for line in step.text.split("\n")[:FILE_LINES] if re.search(r"\w", line)]
    lines = pairs(lines)[0] if lines and "|" in lines[0] else lines
    for line in lines[:200]:
        yield _Candidate(step, said, squash(line), 2.0 if len(lines) <= 4 else 0.0)
