"""Lines of code and prose by what they tell; the rest is left out of memories."""

from __future__ import annotations

import re
from collections.abc import Sequence

from claude_mem_core.observer.deltas import name_of
from claude_mem_core.observer.text import squash

LONGEST = 500

EMPTY = re.compile(
    r"^[\s{}()\[\];,<>/*\"'`=+-]*$|^\s*(?:end|else|pass|try:?|do|then|fi|done|begin|else:|\"\"\"|'''|return;?|break;?|continue;?)\s*[{;]?\s*$"
)
IMPORT = re.compile(
    r"^\s*(?:import\b|from\s+\S+\s+import\b|#include\b|using\s+[\w.]+;|use\s+[\w:]+|require\b|package\s|const\s+.*=\s*require\(|@import|export\s+\*)"
)
COMMENT = re.compile(
    r"""^\s*(?://+!?|\#(?!\[|!|include|define|region)|--(?=\s)|/\*+|\*(?=\s)|;;|%(?=\s)|<!--|\"{3}|'{3})\s*(?P<text>.*?)\s*(?:\*/|-->|\"{3}|'{3})?\s*$"""
)
TRAILING = re.compile(r"""\s+(?://|\#|--|/\*)\s+(?P<text>[^"'`]{4,}?)\s*(?:\*/)?\s*$""")
DECORATOR = re.compile(r"^\s*(?:@\w|#\[|\[[A-Z]\w+[\](])")
CONSTANT = re.compile(
    r"\b[A-Z][A-Z0-9_]{2,}\b\s*(?::[^=]{1,30})?(?:=|:)\s*\S|^\s*(?:const|static|final|val|let)\b.*=\s*[\"'\d]"
)
THROWS = re.compile(
    r"\b(?:throw|raise|panic!?|abort|fail|Err\(|errors?\.New|HttpError|status\(|return\s+(?:res|jsonify|new\s+\w*Response)|reject\()",
    re.IGNORECASE,
)
CONFIG = re.compile(r"^\s*[\w.\"'/@-]+\s*(?::|=|\s)\s*[\"']?[\w./@:${}%,+-]+.*$")
SQL = re.compile(
    r"(?i)\b(?:create|alter|drop|insert into|update\s+\w+\s+set|delete from|select\b.*\bfrom|order by|group by|where|primary key|references|unique|on conflict|join)\b"
)
VALUE = re.compile(r"\d{2,}|\d+\.\d+|[\"'][^\"']{2,60}[\"']")
CALLS = re.compile(r"\b\w+(?:\.|::)\w+\(|\w+\(")
ASSERTS = re.compile(r"\b(?:assert\w*|expect|should)\b")
CONTROL = re.compile(
    r"^\s*(?:if|for|while|return|switch|case|with|elif|elsif|unless|guard|await|yield)\b"
)


def weight(line: str) -> int:
    """How much a line of code tells; 0 for none."""
    line = line[:LONGEST]
    if EMPTY.match(line):
        return 0
    if IMPORT.match(line):
        return 1
    score = 2
    for pattern, worth in _WORTH:
        if pattern.search(line):
            score += worth
    return score + (3 if name_of(line) else 0)


_WORTH: tuple[tuple[re.Pattern[str], int], ...] = (
    (CONSTANT, 3), (THROWS, 3), (SQL, 3), (DECORATOR, 2), (VALUE, 2), (CALLS, 1),
    (ASSERTS, -1), (CONTROL, -1),
)  # fmt: skip


def telling_lines(lines: Sequence[str], most: int, chars: int) -> list[str]:
    """The `most` most telling lines in their order, within `chars` characters."""
    ranked = sorted(
        ((weight(line), -at, line) for at, line in enumerate(lines) if not comment(line)),
        reverse=True,
    )
    chosen: list[int] = []
    room = chars
    for score, at, line in ranked:
        size = len(squash(line))
        if score > 1 and len(chosen) < most and size <= room:
            chosen.append(-at)
            room -= size
    return [shown(lines[at]) for at in sorted(chosen)]


def shown(line: str) -> str:
    """A line of code as a memory quotes it: no indent, no comment at its end."""
    line = squash(TRAILING.sub("", line[:LONGEST]))
    return line.rstrip("{").rstrip().rstrip(",")


def comment(line: str) -> str:
    """The text of a line that is only a comment; empty when it is code."""
    match = COMMENT.match(line[:LONGEST])
    return squash(match.group("text")) if match else ""


def comments(lines: Sequence[str]) -> list[str]:
    """What comments say, in their own line or at the end of code."""
    found = []
    for line in lines:
        text = comment(line)
        if not text and (match := TRAILING.search(line[:LONGEST])):
            text = squash(match.group("text"))
        if len(text.split()) > 2 or len(text) > 20:
            found.append(text)
    return found


def definitions(lines: Sequence[str]) -> list[str]:
    """Names that the lines define."""
    return list(dict.fromkeys(filter(None, map(name_of, lines))))
