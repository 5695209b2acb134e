"""What a run says of itself: passed or failed, how many, which error, which result."""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from claude_mem_core.observer.commands import PROOF, Job, Sort
from claude_mem_core.observer.noise import MOST_LINES, telling
from claude_mem_core.observer.steps import Step
from claude_mem_core.observer.text import squash, unique

LONGEST = 600
# Where a credential stood. Such a line tells no more of what went wrong.
MARK = "<redacted type="
MOST_ERRORS = 3

EXIT_LINE = re.compile(
    r"(?i)^(?:exit code:? \d+|command failed with exit code.*|process exited.*|error: ?$"
    r"|command: .*|directory: .*|signal: .*|process group.*|output:|exit status \d+)$"
)
# How runners count. The line itself is kept, it is what people look for.
COUNTS = re.compile(
    r"""(?ix) \b\d+\ (?:passed|failed|errors?\b.*\bpassed)\b | ^\s*tests?:\s+.*\d+\ (?:passed|failed|total)
      | test\ result: | ^\s*tests?\s+\d+\ (?:passed|failed)\ | \btests?\ run:\ \d+ | \d+\ tests?\ completed
      | \d+\ examples?,\ \d+\ failures? | ^ok\ \(\d+\ tests? | \d+\ tests?,\ \d+\ (?:assertions|failures)
      | tests:\ \d+,\ assertions | \d+%\ tests\ passed | (?:passed|failed)!\s+-\ failed: | ^\s*total\ tests:
      | \bran\ \d+\ tests? | ^\#\ (?:pass|fail|tests)\ \d+ | ^\s*\d+\ (?:passing|failing)\b
      | executed\ \d+\ tests? | all\ tests\ passed | \d+\ (?:tests?|specs?)\ (?:passed|ok|successful)
      | found\ \d+\ errors? | ^success: | \bno\ issues\ found | all\ checks\ passed | \d+\ problems?\ \("""
)
BAD_COUNTS = re.compile(
    r"(?i)\b([1-9]\d*) (?:failed|failing|failures?|errors?)\b|\bFAILED\b|(?:failures|errors): ([1-9]\d*)|build failed"
)
SUM_LINE = re.compile(
    r"(?i)^\s*(?:test )?(?:files|suites|snapshots|time|duration|start at|ran all)\b"
)
FAILED_TEST = re.compile(
    r"""(?x) ^(?:FAILED|ERROR)\s+(?P<a>\S+(?:::\S+)?)(?:\s+-\s+(?P<msg>.*))?$
      | ^\s*(?:✕|✗|×|✘)\s+(?P<b>.+?)(?:\s+\(?\d+\s?ms\)?)?$ | ^\s*---\ FAIL:\ (?P<c>\S+)
      | ^test\ (?P<d>\S+)\ \.\.\.\ FAILED | ^\s*not\ ok\ \d+\ -?\s*(?P<e>.+)$ | ^rspec\ (?P<g>\S+)
      | ^(?P<f>\S.{0,120}\S)\s+FAILED$ | ^\[ERROR\]\s+(?P<h>[\w.]+\.\w+:\d+)\b | ^\s*Failed\s+(?P<i>[\w.]+)\s\["""
)
EXPECTED = re.compile(
    r"(?i)^\s*(?:-\s*)?(?:expected|want(?:ed)?|erwartet|left)\b[^:=]{0,20}[:=]\s*\S"
)
ACTUAL = re.compile(
    r"(?i)^\s*(?:\+\s*)?(?:actual|received|got|but was|found|erhalten|right)\b[^:=]{0,20}[:=]\s*\S"
)
# Lines that name what went wrong, the most exact kind first.
ERRORS: tuple[re.Pattern[str], ...] = (
    re.compile(r"^E\s{2,}(?!\s*\+|\s*[-?|])\S"),
    re.compile(r"^(?:error\[\w+\]|\S*\berror (?:TS|CS|C|E|BC|FS|MSB|SC)?\d+\b|.*\berror [A-Z]{2,3}\d+:)"),
    re.compile(r"^\s*(?:[\w.$\\]+\.)?[A-Z]\w*(?:Error|Exception|Failure|Fault|Warning|Exit|Interrupt)\b(?:\s?[:(\[]| -|$)"),
    re.compile(r"^called `.*` on an? |^assertion .*failed|^\s*(?:left|right): "),
    re.compile(r"^\s*(?:Caused by|panic|fatal|goroutine panic|Uncaught|Unhandled)\b", re.IGNORECASE),
    re.compile(r"(?i)\b(?:expected|expect)\b.{0,200}\b(?:but|got|found|received|actual|was|to (?:be|equal))\b"),
    re.compile(r"^\s*\S*:\d+(?::\d+)?:?\s+(?:\w+:\s+)?(?:undefined|error|cannot|undeclared|unexpected|expected|unresolved|no )", re.IGNORECASE),
    re.compile(r"^\S.{0,80}\(\d+,\d+\): error\b"),
    re.compile(r"^e: |^\[ERROR\] \S|^\[CRITICAL\]|^ERROR\b.{3}|^FATAL\b|^E[A-Z]{4,}:|^npm (?:ERR!|error) (?!code|errno|A complete|path|command|node)"),
    re.compile(r"(?i)^(?:error|err|fehler|erro|erreur|fatal|failed|failure)\b[:!]?\s+\S|エラー|失敗"),
    re.compile(r"^\S+: \(?\d*\)? ?\S|(?i:denied|refused|timed? ?out|unreachable|not found|no such|already in use|invalid|unable to|could not|cannot|can't|missing|mismatch)"),
)  # fmt: skip
EMPTY_ERRORS = re.compile(
    r"(?i)^\s*(?:error: could not compile|error: aborting|error: process didn't|error: test failed|ERR_PNPM|npm (?:ERR!|error) (?:code|lifecycle|errno)"
    r"|make(?:\[\d+\])?: \*\*\*|FAIL\b|FAILED\b|\S+:\d+: \w+(?:Error|Exception)$|FAILURE: Build failed|\* What went wrong|error Command failed|ELIFECYCLE|script .* failed"
    r"|caused by:$|error:$|execution failed for task|there were failing tests|build failed|lerna ERR!|\[ERROR\] (?:failed to execute goal|->|re-run|to see|for more|$)|Traceback|\[ERROR\] COMPILATION ERROR|\[ERROR\] (?:Tests run|Failures|Errors):|Error Message:|Stack Trace:|thread '.*' panicked at|exit status)"
)
PLACE = re.compile(
    r"(?:^\s*(?:-->|at|File|in)\s+.*?|\()?([\w@./+-]*[\w-]\.[A-Za-z]{1,5})(?:[\"']?, line |:|\()(\d+)"
)


@attrs.frozen
class Outcome:
    """What a run gave.

    Attributes:
        ok: it did what it should.
        counts: the line in which a runner counts; may be empty.
        tests: names of tests that failed.
        errors: the lines that say what went wrong, most exact first.
        place: file and line of the first error, `a/b.py:14`; may be empty.
        lines: everything worth reading of the output.
    """

    ok: bool
    counts: str = ""
    tests: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    place: str = ""
    lines: tuple[str, ...] = ()

    @property
    def error(self) -> str:
        """The most exact error."""
        return self.errors[0] if self.errors else ""


def outcome(step: Step, job: Job, most: int = MOST_LINES) -> Outcome:
    """Read the output of a run, at most `most` lines of it."""
    lines = [line for line in telling(step.text, most) if not EXIT_LINE.match(line.strip())]
    lines = _expectations(lines)
    counts = _counts(lines)
    proof = job.sort in PROOF
    bad = proof and bool(BAD_COUNTS.search(_zeroless(counts)) or _said_failed(lines, job))
    if not step.failed and not bad:
        return Outcome(True, counts, lines=tuple(lines))
    errors = error_lines(lines)
    return Outcome(
        False,
        counts,
        tuple(_failed_tests(lines)),
        tuple(errors),
        _place(lines, errors),
        tuple(lines),
    )


def _expectations(lines: Sequence[str]) -> list[str]:
    """`Expected: x` and the `Actual: y` below it as one line."""
    joined: list[str] = []
    for line in lines:
        if joined and ACTUAL.match(line) and EXPECTED.match(joined[-1]):
            joined[-1] = f"{joined[-1].rstrip()}, {squash(line)}"
        else:
            joined.append(line)
    return joined


def _counts(lines: Sequence[str]) -> str:
    """The last line that counts; runners print the sum at the end."""
    found = [line for line in lines if COUNTS.search(line) and not SUM_LINE.match(line)]
    return tidy(found[-1]) if found else ""


def tidy(line: str) -> str:
    """A result line without the rule and the level around it."""
    line = re.sub(r"^\[?(?:INFO|WARN(?:ING)?|ERROR)\]?:?\s+", "", line.strip().strip("=-_* "))
    return squash(line)[:LONGEST]


def _zeroless(counts: str) -> str:
    return re.sub(
        r"(?i)\b0 (?:failed|failing|failures?|errors?)\b|\b(?:failed|failures?|errors?): +0\b",
        "",
        counts,
    )


def _said_failed(lines: Sequence[str], job: Job) -> bool:
    """A run whose exit code was swallowed by a pipe says it only in words."""
    if job.sort is not Sort.TEST:
        return False
    return any(FAILED_TEST.match(line) for line in lines) and not any(
        re.search(r"(?i)\bpassed\b|BUILD SUCCESSFUL", line) for line in lines[-3:]
    )


def _failed_tests(lines: Sequence[str]) -> list[str]:
    found = []
    for line in lines:
        match = FAILED_TEST.match(line[:LONGEST])
        if match:
            found.append(
                next(g for k, g in sorted(match.groupdict().items()) if g and k != "msg")
            )
    return unique(found)[:12]


def error_lines(lines: Sequence[str]) -> list[str]:
    """Up to three lines that say what went wrong."""
    ranked = []
    for at, line in enumerate(lines):
        line = line[:LONGEST]
        rank = next((r for r, p in enumerate(ERRORS) if p.search(line)), None)
        if rank is not None and not EMPTY_ERRORS.match(line) and not COUNTS.search(line):
            ranked.append((rank + len(ERRORS) * (MARK in line), at, line))
    best = sorted(ranked)[: MOST_ERRORS * 3]
    cleaned = unique(_clean_error(line) for _, _, line in best)
    return _no_parts([e for e in cleaned if len(e) > 3])[:MOST_ERRORS] or _last(lines)


def _last(lines: Sequence[str]) -> list[str]:
    """Nothing looks like an error: the end of the output is the best guess."""
    useful = [
        tidy(line) for line in lines if not EMPTY_ERRORS.match(line) and not COUNTS.search(line)
    ] or ["; ".join(tidy(line) for line in lines[-3:])]
    plain = [line for line in useful if MARK not in line] or useful
    return [line for line in plain[-1:] if re.search(r"\w{3}", line)]


WRAPPED = re.compile(
    r"^called `[^`]*` on an? `\w+` value: |^(?:\[ERROR\]|ERROR:?)\s+(?=\S)|^(?:error|Error):\s+(?=\S)|^AssertionError:\s+(?=\S)"
)


def _clean_error(line: str) -> str:
    line = re.sub(r"^E\s{2,}", "", line.strip())
    line = WRAPPED.sub("", line)
    line = re.sub(r"^\d{4}-\d\d-\d\d[T ][\d:.,]+Z?\s*", "", line)
    return squash(re.sub(r"^[\s|^>~-]+", "", line))


def _no_parts(errors: list[str]) -> list[str]:
    """Drop a line that a better one already holds."""
    kept: list[str] = []
    for error in errors:
        if not any(error in other or other in error for other in kept):
            kept.append(error)
    return kept


def _place(lines: Sequence[str], errors: Sequence[str]) -> str:
    for line in (*errors, *lines):
        match = PLACE.search(line[:LONGEST])
        if (
            match
            and "node_modules" not in match.group(1)
            and "site-packages" not in match.group(1)
        ):
            return f"{match.group(1).strip('(')}:{match.group(2)}"
    return ""
