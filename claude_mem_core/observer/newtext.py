"""What new text tells: names of tests, tables, definitions, sentences of documents."""

from __future__ import annotations

import re
from collections.abc import Sequence

from claude_mem_core.observer import code
from claude_mem_core.observer.text import clip, comma, squash, unique

PROSE = re.compile(
    r"\.(?:md|mdx|rst|txt|adoc|org|tex|html?)$|(?:^|/)(?:README|CHANGELOG|NOTES|TODO)",
    re.IGNORECASE,
)
TESTS = re.compile(
    r"(?:^|/)(?:tests?|spec|__tests__|e2e)/|[._-](?:test|spec)s?\.\w+$|(?:^|/)test_|(?:Test|Tests|Spec|IT)\.\w+$|_(?:test|spec)\.\w+$"
)
TEST_NAME = re.compile(
    r"""(?mx) ^\s*(?:async\s+)?def\s+(test_\w+) | ^\s*(?:it|test|specify|scenario)(?:\.\w+)*\(\s*["'`]([^"'`\n]{3,120})
      | ^\s*(?:it|test|scenario)\s+["']([^"'\n]{3,120})["'] | ^func\s+((?:Test|Benchmark)\w+)\(
      | ^\s*(?:async\s+)?fn\s+(\w+)\(\)\s*(?:->.*)?\{ | ^\s*fun\s+`([^`\n]{3,120})` | ^\s*(?:public\s+)?(?:async\s+)?(?:void|Task)\s+(\w+)\("""
)
COLUMN = re.compile(r"^\s*[\"`]?([a-z_]\w*)[\"`]?\s+[a-z]", re.IGNORECASE)
KEY = re.compile(r"(?i)^\s*(?:primary key|unique|foreign key|constraint)\b.*?\(([^)]+)\)")
TABLE = re.compile(r"(?i)\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?[\"`]?([\w.]+)")


def tests(lines: Sequence[str]) -> list[str]:
    """The names of the tests in the lines."""
    found = [
        next(g for g in m.groups() if g) for m in TEST_NAME.finditer("\n".join(lines)[:50_000])
    ]
    return [f"tests {comma([f'`{clip(n, 70)}`' for n in unique(found)], 6)}"] if found else []


def new_code(lines: Sequence[str], names: Sequence[str]) -> list[str]:
    tables = _tables(lines)
    heads = [f"defines {comma(names, 5)}"] if names and not tables else []
    rest = [
        ln
        for ln in lines
        if not (tables and (COLUMN.match(ln) or KEY.match(ln) or TABLE.search(ln)))
    ]
    picked = code.telling_lines(rest, 5, 330)
    return [*tables, *heads, *(f"`{line}`" for line in picked)]


def _tables(lines: Sequence[str]) -> list[str]:
    """`create table` as a sentence: columns and keys."""
    found, at = [], 0
    while at < len(lines):
        match = TABLE.search(lines[at])
        if not match:
            at += 1
            continue
        columns, keys = [], []
        at += 1
        while at < len(lines) and not lines[at].strip().startswith(")"):
            if key := KEY.match(lines[at]):
                keys.append(squash(key.group(1)))
            elif column := COLUMN.match(lines[at]):
                columns.append(column.group(1))
            at += 1
        unique_by = f", unique by ({'; '.join(keys)})" if keys else ""
        found.append(f"table {match.group(1)} with columns {comma(columns, 9)}{unique_by}")
    return found if all("columns " in f and not f.endswith("columns ") for f in found) else []


def prose(lines: Sequence[str], most: int, chars: int) -> list[str]:
    """Headings and sentences of a document, those with figures or choices first."""
    told = [squash(re.sub(r"^[\s#*>-]+", "", line)) for line in _joined(lines)]
    told = [line for line in told if len(line) > 3]
    ranked = sorted(range(len(told)), key=lambda i: (-_prose_weight(told[i], i), i))
    picked: list[int] = []
    for i in ranked[:most]:
        if sum(len(told[p]) for p in picked) + len(told[i]) <= chars:
            picked.append(i)
    return [clip(told[i], 330) for i in sorted(picked)]


def _joined(lines: Sequence[str]) -> list[str]:
    """Wrapped lines of a paragraph or list item as one line."""
    out: list[str] = []
    for line in lines:
        goes_on = (
            out
            and line.strip()
            and out[-1].strip()
            and not re.match(r"\s*(?:[#>*+-]|\d+\.)", line)
        )
        if goes_on and not out[-1].lstrip().startswith("#"):
            out[-1] += " " + line.strip()
        else:
            out.append(line)
    return out


def _prose_weight(line: str, at: int) -> int:
    figures = len(re.findall(r"\d+", line))
    return min(figures, 3) * 2 + (3 if at == 0 else 0) + min(len(line) // 40, 3)
