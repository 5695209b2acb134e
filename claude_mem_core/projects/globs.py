"""Globs over directories: `*` within a name, `**` over any number of them."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from fnmatch import fnmatchcase

from claude_mem_core.projects.spelling import ancestors

PATTERN_CHARS = 1_000
WILD = re.compile(r"[*?\[]")


def matches_any(path: str, patterns: Iterable[str], home: str) -> bool:
    """Whether a directory, or one above it, matches a pattern.

    A pattern without a slash is a folder's name; `~` stands for home. An odd pattern
    matches what it says literally.
    """
    places = list(ancestors(path)) if path else []
    # Paths of Windows have been put into lower case.
    foreign = bool(path) and (not path.startswith("/") or path.startswith("//"))
    texts = [pattern.strip().lower() if foreign else pattern.strip() for pattern in patterns]
    return any(_matches(places, text, home) for text in texts)


def _matches(places: list[str], pattern: str, home: str) -> bool:
    if not pattern or len(pattern) > PATTERN_CHARS:
        return False
    if pattern != "~" and "/" not in pattern.replace("\\", "/"):
        wanted = unicodedata.normalize("NFC", pattern)
        return any(_name_matches(os.path.basename(place), wanted) for place in places)
    whole = home + pattern[1:] if pattern == "~" or pattern.startswith("~/") else pattern
    spellings = {whole, _without_links(whole)}
    return any(_match(_parts(p), _parts(text)) for p in places for text in spellings)


def _without_links(pattern: str) -> str:
    """The pattern with links resolved in the part before its first wildcard."""
    wild = WILD.search(pattern)
    fixed = pattern[: wild.start()].rpartition("/")[0] if wild else pattern
    return os.path.realpath(fixed) + pattern[len(fixed) :] if fixed else pattern


def _parts(path: str) -> list[str]:
    text = unicodedata.normalize("NFC", path).replace("\\", "/")
    return [part for part in text.split("/") if part]


def _name_matches(name: str, pattern: str) -> bool:
    return fnmatchcase(unicodedata.normalize("NFC", name), pattern)


def _match(names: list[str], wanted: list[str]) -> bool:
    """Whether all names match; each step keeps every place where the pattern can stand."""
    at = _past_stars({0}, wanted)
    for name in names:
        at = _past_stars({_next(i, wanted) for i in at if _takes(wanted, i, name)}, wanted)
    return len(wanted) in at


def _takes(wanted: list[str], index: int, name: str) -> bool:
    return index < len(wanted) and (wanted[index] == "**" or fnmatchcase(name, wanted[index]))


def _next(index: int, wanted: list[str]) -> int:
    return index if wanted[index] == "**" else index + 1


def _past_stars(at: set[int], wanted: list[str]) -> set[int]:
    """`**` may also stand for nothing."""
    reached = set(at)
    for index in range(len(wanted)):
        if index in reached and wanted[index] == "**":
            reached.add(index + 1)
    return reached
