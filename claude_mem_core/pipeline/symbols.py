"""What a file says, or what some symbols in it say, as one digest. No model, no parser."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence

from claude_mem_core.observer.deltas import name_of

NAME = re.compile(r"[A-Za-z_$][\w$]{2,}")
MOST = 3  # symbols of one memory in one file
LONGEST = 400  # lines of one symbol


def named(words: str, source: str) -> tuple[str, ...]:
    """The names that both the words of a memory use and the file defines."""
    wanted = set(NAME.findall(words))
    found = dict.fromkeys(
        name
        for line in source.splitlines()
        if not wanted.isdisjoint(NAME.findall(line)) and (name := name_of(line)) in wanted
    )
    return tuple(sorted(found)[:MOST])


def digest(source: str, symbols: Sequence[str]) -> str:
    """Of these symbols' text, or of the whole file; empty when one of them is not there."""
    if not symbols:
        return _hashed(source)
    blocks = _blocks(source.splitlines(), symbols)
    if any(name not in blocks for name in symbols):
        return ""
    return _hashed("\0".join(blocks[name] for name in sorted(symbols)))


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _blocks(lines: Sequence[str], symbols: Collection[str]) -> dict[str, str]:
    """The text of each symbol: its definition and what is indented below it."""
    found: dict[str, list[str]] = {}
    for at, line in enumerate(lines):
        if any(name in line for name in symbols) and (name := name_of(line)) in symbols:
            found.setdefault(name, []).extend(_block(lines, at))
    return {name: "\n".join(block) for name, block in found.items()}


def _block(lines: Sequence[str], at: int) -> Iterator[str]:
    depth = _indent(lines[at])
    yield lines[at].strip()
    for line in lines[at + 1 : at + LONGEST]:
        bare = line.strip()
        if bare and _indent(line) <= depth and not _closes(bare):
            return
        if bare:
            yield bare


def _closes(bare: str) -> bool:
    """Brackets at the end of a head or a body stand where the head stands."""
    return bare[0] in ")]}"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
