"""Output without what nobody would remember: progress, headers, lines of one mould."""

from __future__ import annotations

import re
from collections import Counter

from claude_mem_core.observer.text import plain

MANY = 8  # lines of one shape from which they are a listing or a log, not a result
LONGEST = 400  # characters of one line that are looked at
MOST_LINES = 4_000


# Headers and progress that come too seldom to be seen by their number.
KNOWN = re.compile(
    r"""^\s*(?:
    npm\ (?:warn|notice) | added\ \d+\ packages | \d+\ packages\ are\ looking | run\ `npm\ fund
  | (?:Compiling|Downloading|Downloaded|Updating|Fetching|Unpacking|Installing|Collecting
     |Preparing|Resolving|Locking|Progress:|Blocking|Fresh|Checking|Building|Using\ cached)\ \S
  | Requirement\ already | platform\ (?:linux|darwin|win) | rootdir: | plugins: | collected\ \d
  | collecting | cachedir: | asyncio: | configfile: | go(?:os|arch): | cpu: | pkg: | warmup\b
  | >\ Task\ : | Starting\ a\ Gradle | \#\d+\ (?:\[|DONE|CACHED|sha)
  | Sending\ build\ context | Step\ \d+/\d+ | --->\ | Determining\ projects | Restored\ 
  | [=_*~.\-#+\s]{3,}$
  | running\ \d+\ tests?$ | test\ \S+\ \.\.\.\ (?:ok|ignored)$ | failures:$ | \S+\ PASSED\b
  | \[INFO\]\s*(?:$|-|Scanning|Building|---) | Scope:\ \d | hint: | Using\ (?:default|node)
  | For\ more\ information | note:\ run\ with | Enumerating | Counting | Compressing | Writing\ objects
  | Delta\ compression | Total\ \d+\ \(delta | remote:\ (?:Counting|Compress|Enumer|Resolving|Total)
  | On\ branch | Your\ branch | nothing\ to\ commit | \(use\ "git | no\ changes\ added
  | \[?[.sxF]+\]?\s*\[\s*\d+%\] | \S+\.py\s+[.sxFE]+\s | [✓✔√]\s | \(\d+\ rows?\)$ | [^\d=:]*(?:\.\.\.|…)$ | \d+%\|
    )""",
    re.VERBOSE,
)
# `====== some words ======`: a heading, unless it counts something.
HEADING = re.compile(
    r"^\s*(?:={3,}|_{3,}|-{3,}|\*{3,})[^0-9]*(?:\d[^ ]*)?[^0-9]*(?:={3,}|_{3,}|-{3,}|\*{3,})\s*$"
)
COUNTS = re.compile(r"\b(?:passed|failed|failures?|errors?)\b")
# What stays even when there are many of it.
LOUD = re.compile(
    r"(?i)\b(?:error|fatal|panic\w*|exception|critical|failed|failure|traceback|fehler|erro)\b|エラー|失敗"
)
KEEP_LOUD = 3


def shape(line: str) -> str:
    """The mould of a line: words and numbers replaced, punctuation kept."""
    text = line[:LONGEST].translate(LETTERS)
    for pattern, mark in _MOULD:
        text = pattern.sub(mark, text)
    return text.strip()


LETTERS = str.maketrans(
    {
        **{c: "w" for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"},
        **{c: "0" for c in "123456789"},
    }
)
# Each is linear: runs first, then what they are made of.
_MOULD: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"w+"), "w"),
    (re.compile(r"0+"), "0"),
    (re.compile(r"(?:w?0)+w?"), "0"),
    (re.compile(r"w(?:[-. ,|]+w)+"), "w"),
    (re.compile(r"[ \t]+"), " "),
)


def telling(text: str, most: int = MOST_LINES) -> list[str]:
    """The lines of an output that are worth reading, in order, right-stripped.

    Of more than `most` lines the middle is not looked at.
    """
    lines = [line.rstrip() for line in _ends(plain(text).split("\n"), most)]
    lines = [line for line in lines if line and not _known(line)]
    if len(lines) < MANY:
        return lines
    shapes = [shape(line) for line in lines]
    counts = Counter(shapes)
    return _rare(lines, shapes, counts)


def _ends(lines: list[str], most: int) -> list[str]:
    """The first third and the last two thirds: results stand at the end."""
    return lines if len(lines) <= most else [*lines[: most // 3], *lines[-(most - most // 3) :]]


def _known(line: str) -> bool:
    if KNOWN.match(line[:LONGEST]):
        return True
    return bool(HEADING.match(line[:LONGEST])) and not COUNTS.search(line)


def _rare(lines: list[str], shapes: list[str], counts: Counter[str]) -> list[str]:
    kept, loud = [], Counter[str]()
    for line, mould in zip(lines, shapes, strict=True):
        if counts[mould] < MANY:
            kept.append(line)
        elif LOUD.search(line) and loud[mould] < KEEP_LOUD:
            loud[mould] += 1
            kept.append(line)
    return kept
