"""Lines of a turn that may bear on it: of runs, files, searches, foreign answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from claude_mem_core.observer import code
from claude_mem_core.observer.commands import PROOF, QUIET, Sort
from claude_mem_core.observer.deltas import name_of
from claude_mem_core.observer.newtext import PROSE, TESTS
from claude_mem_core.observer.outcomes import ERRORS
from claude_mem_core.observer.report import pairs, report
from claude_mem_core.observer.speech import is_order
from claude_mem_core.observer.steps import Act, Step
from claude_mem_core.observer.text import clip, names, squash
from claude_mem_core.observer.turn import Run, Turn

FILE_LINES = 4_000  # lines of files that are looked at in one turn
HIT = re.compile(r"^([^\s:]+\.\w+):(\d+)[:-]\s*(.*)$")
ROW = re.compile(r"^([0-9a-f]{7,12})\s+(.+)$")
UNASKED = {Sort.SAVE, Sort.UNDO, Sort.FILES, Sort.STAGE, Sort.INSTALL}


@attrs.frozen
class Candidate:
    step: Step
    source: str
    line: str
    bonus: float


def candidates(turn: Turn, keys: set[str]) -> Iterator[Candidate]:
    """All lines worth weighing; of files, those with a name in `keys` only."""
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


def _of_run(turn: Turn, run: Run) -> Iterator[Candidate]:
    proof = run.sort in PROOF and not run.measures
    if proof or run.sort in UNASKED or not run.outcome.ok or _is_stat(run):
        return
    lines = _together(report(run))
    near = 1.0 if _before_change(turn, run.step) else 0.0
    for line in lines:
        source = "" if HIT.match(line) or " answered " in line else _source(run)
        yield Candidate(run.step, source, line, near + _bonus(turn, run, line, len(lines)))


def _bonus(turn: Turn, run: Run, line: str, count: int) -> float:
    """What speaks for a line apart from its words: short, loud, cited; not a mere look."""
    row = ROW.match(line) if run.sort is Sort.HISTORY else None
    short = count <= 2 and run.sort not in QUIET | {Sort.DEPLOY}
    loud = any(p.search(line) for p in ERRORS[:4]) or "ERROR" in line or "CRITICAL" in line
    cited = row is not None and row.group(1) in turn.answer
    return 2.0 * cited + 2.0 * short + 3.0 * loud - (run.sort in QUIET)


def _together(lines: list[str]) -> list[str]:
    """Two or three short answers as one: they were asked for together."""
    short = (
        1 < len(lines) <= 3 and sum(map(len, lines)) < 150 and not any(map(HIT.match, lines))
    )
    return ["; ".join(lines)] if short else lines


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
        where = [w for w in run.job.main.args[:2] if " " not in w]
        name = " ".join([run.job.main.program, *where])
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


def _of_file(step: Step, keys: set[str], most: int) -> Iterator[Candidate]:
    prose = bool(PROSE.search(step.path))
    for line in step.text.split("\n", most)[:most]:
        found = {n.casefold() for n in names(line)} if line.strip() else set()
        if found & keys and code.weight(line) > 1 and not (prose and is_order(line)):
            remark = code.comment(line)
            yield Candidate(
                step,
                step.path,
                code.shown(remark or line),
                _file_bonus(step.path, line, remark),
            )


def _file_bonus(path: str, line: str, remark: str) -> float:
    """Comments explain; a bare definition only repeats a name, a test what is wanted."""
    if TESTS.search(path):
        return -1.5
    if remark:
        return 0.5
    return -3.0 if name_of(line) and len(line) < 60 else -0.5


def _of_hits(step: Step, edited: set[str]) -> Iterator[Candidate]:
    for line in step.text.split("\n")[:200]:
        if (hit := HIT.match(line)) and hit.group(1) not in edited:
            yield Candidate(step, hit.group(1), code.shown(hit.group(3)), -0.5)


def _of_answer(step: Step) -> Iterator[Candidate]:
    said = step.server or step.tool
    lines = [line for line in step.text.split("\n")[:FILE_LINES] if re.search(r"\w", line)]
    lines = pairs(lines)[0] if lines and "|" in lines[0] else lines
    for line in lines[:200]:
        yield Candidate(step, said, squash(line), 2.0 if len(lines) <= 4 else 0.0)
