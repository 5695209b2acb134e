"""The difference between two states of a file, as pieces with their place."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

import attrs

from claude_mem_core.observer.files import File, Hunk

MIDDLE = 500  # lines that are compared one with another
LOOK_BACK = 400

DEFINITION = re.compile(
    r"""^\s*(?:@?\w+\s+)*?(?:
      (?:async\s+)?(?:def|fn|func|fun|function\*?|sub|defp?|class|struct|interface|trait|enum
        |module|namespace|object|record|impl|protocol|extension|type|proc|macro|service|message)
      \s+(?:\([^)]*\)\s*)?(?P<a>[A-Za-z_$][\w$.:!?]*)
    | (?:export\s+)?(?:default\s+)?(?:const|let|var|val)\s+(?P<b>[A-Za-z_$][\w$]*)\s*(?::[^=]{1,80})?=\s*
        (?:async\s*)?(?:\([^)]*\)|\w+)\s*=>
    | (?:CREATE|ALTER|create|alter)\s+(?:OR\s+REPLACE\s+)?(?:UNIQUE\s+)?(?:TABLE|INDEX|VIEW|FUNCTION
        |TYPE|TRIGGER|PROCEDURE|table|index|view|function|type)\s+(?:IF\s+NOT\s+EXISTS\s+)?
        ["`]?(?P<c>[A-Za-z_][\w.]*)
    )""",
    re.VERBOSE,
)
METHOD = re.compile(
    r"^\s+(?:(?:public|private|protected|internal|static|final|async|override|virtual|abstract"
    r"|suspend|open|readonly|get|set)\s+)*[*]?(?:[\w<>\[\],.?:*&]+\s+){0,3}"
    r"(?P<a>[A-Za-z_$][\w$]*)\s*\([^;]*\)\s*(?:[:\w<>\[\],.?\s|&]*|throws [\w, .]+)?\{\s*$"
)
SECTION = re.compile(
    r"^\s*(?:\[{1,2}(?P<a>[\w.\"' -]+)\]{1,2}\s*$|(?P<b>[\w./-]+):\s*(?:#.*)?$|#{1,6}\s+(?P<c>.+))"
)
FIRST = re.compile(r"\s*\}?\s*([a-z]+)\b")
CONTROL = {
    "if",
    "for",
    "while",
    "switch",
    "catch",
    "return",
    "else",
    "do",
    "try",
    "with",
    "match",
    "when",
}


@attrs.frozen
class Delta:
    """One place of a file that differs.

    Attributes:
        old, new: its lines before and after, without line ends.
        inside: name of what it is in: a function, a class, a section; may be empty.
    """

    old: tuple[str, ...]
    new: tuple[str, ...]
    inside: str = ""


def deltas(file: File) -> list[Delta]:
    """What differs in a changed file, from top to bottom where that is known."""
    if file.before is None or file.now is None or not file.existed or not file.exists:
        return [_of_hunk(h) for h in file.hunks]
    old, new = file.before.splitlines(), file.now.splitlines()
    found = _compared(old, new)
    return found if found is not None else [_of_hunk(h) for h in file.hunks]


def of_hunks(hunks: Sequence[Hunk]) -> list[Delta]:
    """The differences inside pairs of text, without the lines they share."""
    return [_of_hunk(h) for h in hunks]


def _of_hunk(hunk: Hunk) -> Delta:
    old, new = hunk.old.splitlines(), hunk.new.splitlines()
    head, tail = _common(old, new)
    cut_old, cut_new = old[head : len(old) - tail], new[head : len(new) - tail]
    return Delta(tuple(cut_old), tuple(cut_new), _inside(new or old, head))


def _common(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines both begin with, and end with."""
    most = min(len(old), len(new))
    head = 0
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def _compared(old: list[str], new: list[str]) -> list[Delta] | None:
    head, tail = _common(old, new)
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(a) > MIDDLE or len(b) > MIDDLE:
        return None
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    return [
        Delta(tuple(a[i1:i2]), tuple(b[j1:j2]), _inside(new, head + j1))
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def _inside(lines: Sequence[str], at: int) -> str:
    """Name of the nearest definition at or above line `at` that holds it."""
    if not lines:
        return ""
    at = min(at, len(lines) - 1)
    depth = _indent(lines[at]) if lines[at].strip() else 99
    for back in range(at, max(-1, at - LOOK_BACK), -1):
        line = lines[back]
        if not line.strip() or (back != at and _indent(line) >= depth and depth):
            continue
        if name := name_of(line):
            return name
        depth = min(depth, _indent(line)) if back != at else depth
    return ""


def name_of(line: str) -> str:
    """What a line defines; empty when it defines nothing."""
    first = FIRST.match(line)
    if len(line) > 400 or (first and first.group(1) in CONTROL):
        return ""
    for pattern in (DEFINITION, METHOD):
        match = pattern.match(line)
        if match:
            found = next((g for g in match.groups() if g), "")
            if found and found not in CONTROL:
                return found.rstrip(":.")
    return ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
