"""Text to rows of the table: words, parts of names, and word pieces of what is unknown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from importlib import resources

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_SINGLE = re.compile("[\u3040-\u30ff\u3400-\u9fff]|[^\u3040-\u30ff\u3400-\u9fff]+")
_LONGEST = 60  # characters of a word that is taken apart
_LONGEST_PIECE = 18


def vocabulary() -> dict[str, int]:
    """The row of every piece; one that goes on a word begins with `##`."""
    text = (resources.files(__package__) / "words.txt").read_text(encoding="utf-8")
    return {piece: row for row, piece in enumerate(text.splitlines())}


def words(text: str) -> list[str]:
    """The words of a text; names such as `parseHTTPHeader` or `max_size` by their parts."""
    return _WORD.findall(text)


def rows_of(word: str, known: Mapping[str, int]) -> list[int]:
    """The rows that stand for one word; none for one that can't be put together."""
    if word.isascii():
        return _pieces(word.lower(), known)
    folded = unicodedata.normalize("NFD", word.lower())
    plain = "".join(char for char in folded if not unicodedata.combining(char))
    return [row for part in _SINGLE.findall(plain) for row in _pieces(part, known)]


def _pieces(word: str, known: Mapping[str, int]) -> list[int]:
    """The longest pieces from the left."""
    found: list[int] = []
    start, word = 0, word[:_LONGEST]
    while start < len(word):
        mark = "##" if start else ""
        for end in range(min(len(word), start + _LONGEST_PIECE), start, -1):
            row = known.get(mark + word[start:end])
            if row is not None:
                found.append(row)
                start = end
                break
        else:
            return []
    return found
