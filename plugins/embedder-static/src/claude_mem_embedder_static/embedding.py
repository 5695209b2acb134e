"""The sum of the vectors of a text's words, without numpy.

A row of the table is 256 bytes, 128 for zero. As a whole number with 16 bits for each
byte, 257 rows can be added by the one addition that Python has, 256 sums at a time:
that is as quick as numpy and needs none of its 70 MB. How many rows were added is counted
in the same number, below them. A text costs about 0.1 ms.
"""

from __future__ import annotations

import mmap
import sys
from array import array
from collections.abc import Sequence
from importlib import resources
from itertools import islice
from operator import add

from claude_mem_embedder_static import pieces

DIMENSIONS = 256
ZERO = 128
_ADDED = 257  # rows whose sums fit in 16 bits: 257 * 255 = 65,535
_COUNT_BITS = 32  # below the sums
_REMEMBERED = 60_000  # words whose sum is kept while many texts come: about 45 MB
_AT_REST = 4_000  # and while few do
_WORDS = 2_000  # of a text
_SURELY_MANY = 256  # words that are hardly ever made of so few rows


class StaticEmbedding:
    """Texts as the direction that their words share; whole numbers, not scaled."""

    dimensions = DIMENSIONS
    model = "static-minilm-256-1"

    def __init__(self) -> None:
        file = resources.files(__package__) / "table.bin"
        with resources.as_file(file) as path, path.open("rb") as opened:
            self._table = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        self._known = pieces.vocabulary()
        self._words: dict[str, int] = {}

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One vector for each text; all zeros for a text without a known word."""
        return [self._one(text) for text in texts]

    def rest(self) -> None:
        """Give back most of the memory that many texts have taken."""
        if len(self._words) > _AT_REST:
            self._words = {}

    def _one(self, text: str) -> list[int]:
        words = pieces.words(text)[:_WORDS]
        if len(self._words) > _REMEMBERED:
            self._words = dict(islice(self._words.items(), _REMEMBERED // 2, None))
        known = self._words
        for word in set(words).difference(known):
            known[word] = self._word(word)
        return _lanes([known[word] for word in words])

    def _word(self, word: str) -> int:
        """The sum of a word's rows, and how many they are."""
        rows = pieces.rows_of(word, self._known)[:_ADDED]  # more pieces are no word
        return (sum(map(self._row, rows)) << _COUNT_BITS) + len(rows)

    def _row(self, number: int) -> int:
        start = number * DIMENSIONS
        wide = bytearray(2 * DIMENSIONS)
        wide[::2] = self._table[start : start + DIMENSIONS]
        return int.from_bytes(wide, "little")


def _lanes(words: Sequence[int]) -> list[int]:
    """What words add up to, number by number; in halves where that is too much for once."""
    if len(words) <= _SURELY_MANY:
        total = sum(words)
        rows = total & ((1 << _COUNT_BITS) - 1)
        if rows <= _ADDED:
            return _apart(total >> _COUNT_BITS, ZERO * rows)
    half = len(words) // 2
    return list(map(add, _lanes(words[:half]), _lanes(words[half:])))


def _apart(total: int, zero: int) -> list[int]:
    """The 256 sums in `total`, each with its share of zeros taken off."""
    sums = array("H", total.to_bytes(2 * DIMENSIONS, "little"))
    if sys.byteorder == "big":
        sums.byteswap()
    return [value - zero for value in sums]
