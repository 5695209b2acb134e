"""The same thing measured twice: what it was before and after the change."""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from claude_mem_core.observer.commands import PASSIVE, PROOF, Sort
from claude_mem_core.observer.noise import shape
from claude_mem_core.observer.outcomes import tidy
from claude_mem_core.observer.report import report
from claude_mem_core.observer.text import clip, squash
from claude_mem_core.observer.turn import Run, Turn

NUMBER = re.compile(r"\d[\w.,]*")
TIMES = ("ms", "s", "sec", "min")
LEAST = 0.02  # share by which a figure has to differ to be worth a word
QUANTITY = re.compile(
    r"(?<![\w.])(\d+(?:[.,]\d+)?)\s?((?:[a-zA-Z]{1,12}/)?(?:ms|s|sec|seconds?|min|MB|GB|KB|MiB|GiB|%|rps|req/s|jobs/s|qps|[a-z]{3,12}/s))(?![\w/])"
)


@attrs.frozen
class Measure:
    """Two runs of one command and what differs in what they told."""

    label: str
    change: str
    first: Run
    last: Run

    @property
    def text(self) -> str:
        """As a fact."""
        return f"`{self.label}` before and after: {self.change}"


def measures(turn: Turn) -> list[Measure]:
    """Comparisons that have a lasting change between their two runs."""
    groups: dict[str, list[Run]] = {}
    for run in turn.runs:
        if run.outcome.ok and not run.step.agent and _measurable(run):
            groups.setdefault(_same(run), []).append(run)
    found = [_compared(turn, group) for group in groups.values() if len(group) > 1]
    return [m for m in found if m is not None]


def _measurable(run: Run) -> bool:
    if run.sort in PROOF:
        return run.measures
    return run.sort not in PASSIVE and run.sort not in (Sort.SAVE, Sort.UNDO, Sort.FILES)


def _same(run: Run) -> str:
    """Equal for runs that measure one thing."""
    if run.sort in (Sort.HTTP, Sort.DATABASE):
        return f"{run.job.main.host} {run.job.kin}"
    return squash(run.step.command)


def _compared(turn: Turn, group: Sequence[Run]) -> Measure | None:
    first, last = group[0], group[-1]
    changed = any(first.index < at < last.index for f in turn.changed for at in f.steps)
    if not changed:
        return None
    told = _difference(report(first), report(last))
    return Measure(first.label, told, first, last) if told else None


def _difference(before: Sequence[str], after: Sequence[str]) -> str:
    moulds = {shape(line): line for line in before}
    told = []
    for line in after:
        old = moulds.get(shape(line))
        if old is not None and (said := between(old, line)):
            told.append(said)
    figures = any(map(NUMBER.search, before)) and any(map(NUMBER.search, after))
    if not told and figures and before != after and len(before) <= 2 and len(after) <= 2:
        told = [_aside("; ".join(before), "; ".join(after))]
    return "; ".join(clip(t, 200) for t in told[:2])


def _aside(old: str, new: str) -> str:
    """`old` → `new` with the words that both begin with said once."""
    a, b = old.split(" "), new.split(" ")
    head = 0
    while head < min(len(a), len(b)) - 1 and a[head] == b[head]:
        head += 1
    shared = " ".join(a[:head]) + " " if head else ""
    return f"{shared}{clip(' '.join(a[head:]), 110)} → {clip(' '.join(b[head:]), 110)}"


def between(old: str, new: str) -> str:
    """One line with each figure that moved as `a → b`; empty when none did."""
    was, now = NUMBER.findall(old), NUMBER.findall(new)
    if (
        len(was) != len(now)
        or was == now
        or not any(_moved(a, b) for a, b in zip(was, now, strict=True))
    ):
        return ""
    figures = iter(zip(was, now, strict=True))

    def put(match: re.Match[str]) -> str:
        a, b = next(figures)
        return b if a == b else f"{a} → {b}"

    return tidy(NUMBER.sub(put, new))


def _moved(a: str, b: str) -> bool:
    x, y = _value(a), _value(b)
    if x is None or y is None:
        return a != b
    return abs(x - y) > LEAST * max(abs(x), abs(y))


def _value(text: str) -> float | None:
    match = re.match(r"\d+(?:\.\d+)?", text.replace(",", ""))
    return float(match.group()) if match else None


def wanted(turn: Turn) -> list[str]:
    """Measured figures beside the one the prompt asks for, where the unit is the same."""
    asked = {
        unit.casefold(): (float(v.replace(",", ".")), v)
        for v, unit in QUANTITY.findall(turn.prompt)
    }
    told = []
    for run in turn.runs:
        if (
            not run.outcome.ok
            or run.step.agent
            or not (run.measures or run.sort is Sort.SCRIPT)
        ):
            continue
        for line in run.outcome.lines[-6:]:
            told += [_beside(line, v, unit, asked) for v, unit in QUANTITY.findall(line)]
    return [t for t in dict.fromkeys(told) if t][:3]


def _beside(line: str, value: str, unit: str, asked: dict[str, tuple[float, str]]) -> str:
    if unit.casefold() not in asked or not ("/" in unit or unit in TIMES):
        return ""
    need, shown = asked[unit.casefold()]
    ratio = float(value.replace(",", ".")) / need if need else 0.0
    what = re.match(r"[A-Za-z][\w.:/-]*", line.strip())
    if not 0.01 < ratio < 1000:
        return ""
    name = what.group().rstrip(":") if what else "measured"
    if unit in TIMES:
        return f"{name}: {value} {unit}, asked for were {shown} {unit}"
    times = f"{ratio:.0f} times" if ratio >= 1.95 else f"{ratio:.2g} times"
    return f"{name}: {value} {unit}, about {times} the {shown} {unit} asked for"
