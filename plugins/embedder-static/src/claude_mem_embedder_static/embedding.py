"""The sum of the vectors of a text's words, without numpy.

A row of the table is 256 bytes, 128 for zero. As a whole number with 16 bits for each
byte, 257 rows can be added by the one addition that Python has, 256 sums at a time:
that is as quick as numpy and needs none of its 70 MB. A text costs about 0.1 ms.
"""

from __future__ import annotations

import mmap
import sys
from array import array
from collections.abc import Sequence
from importlib import resources
from itertools import islice

from claude_mem_embedder_static import pieces

DIMENSIONS = 256
ZERO = 128
_ADDED = 257  # rows whose sums fit in 16 bits: 257 * 255 = 65,535
_REMEMBERED = 60_000  # words whose sum is kept while many texts come: about 45 MB
_AT_REST = 4_000  # and while few do
_WORDS = 2_000  # of a text


class StaticEmbedding:
    """Texts as the direction that their words share; whole numbers, not scaled."""

    dimensions = DIMENSIONS
    model = "static-minilm-256-1"

    def __init__(self) -> None:
        file = resources.files(__package__) / "table.bin"
        with resources.as_file(file) as path, path.open("rb") as opened:
            self._table = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        self._known = pieces.vocabulary()
        self._words: dict[str, tuple[int, int]] = {}

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One vector for each text; all zeros for a text without a known word."""
        return [self._one(text) for text in texts]

    def rest(self) -> None:
        """Give back most of the memory that many texts have taken."""
        if len(self._words) > _AT_REST:
            self._words = {}

    def _one(self, text: str) -> list[int]:
        lanes = [0] * DIMENSIONS
        total = rows = 0
        for word in pieces.words(text)[:_WORDS]:
            of_word, count = self._words.get(word) or self._word(word)
            if rows + count > _ADDED:
                lanes = _plus(lanes, total, rows)
                total = rows = 0
            total += of_word
            rows += count
        return _plus(lanes, total, rows) if rows else lanes

    def _word(self, word: str) -> tuple[int, int]:
        """The sum of a word's rows and how many they are."""
        rows = pieces.rows_of(word, self._known)[:_ADDED]  # more pieces are no word
        made = sum(map(self._row, rows)), len(rows)
        if len(self._words) >= _REMEMBERED:
            self._words = dict(islice(self._words.items(), _REMEMBERED // 2, None))
        self._words[word] = made
        return made

    def _row(self, number: int) -> int:
        start = number * DIMENSIONS
        wide = bytearray(2 * DIMENSIONS)
        wide[::2] = self._table[start : start + DIMENSIONS]
        return int.from_bytes(wide, "little")


def _plus(lanes: Sequence[int], total: int, rows: int) -> list[int]:
    """`lanes` and the sums in `total`, each with its share of zeros taken off."""
    sums = array("H", total.to_bytes(2 * DIMENSIONS, "little"))
    if sys.byteorder == "big":
        sums.byteswap()
    zero = ZERO * rows
    return [lane + value - zero for lane, value in zip(lanes, sums, strict=True)]
