"""Text to numbers as the model was taught it: BERT's word pieces, lower case."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from importlib import resources

CLS, SEP, UNKNOWN = 101, 102, 100
LONGEST = 256  # pieces of a text, the two marks included
_LONGEST_WORD = 100
_TOKEN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|\\w+|[^\\w\\s]")


class Pieces:
    """The vocabulary, and the numbers of texts."""

    def __init__(self) -> None:
        text = (resources.files(__package__) / "words.txt").read_text(encoding="utf-8")
        self._known = {piece: number for number, piece in enumerate(text.split("\n"))}
        self._word = lru_cache(20_000)(self._pieces)

    def numbers(self, text: str) -> list[int]:
        """The numbers of a text between its two marks, cut to what the model takes."""
        found: list[int] = []
        for token in _TOKEN.findall(_plain(text[: 20 * LONGEST])):
            for part in token.replace("_", " _ ").split():
                found += self._word(part)
            if len(found) >= LONGEST - 2:
                break
        return [CLS, *found[: LONGEST - 2], SEP]

    def _pieces(self, word: str) -> tuple[int, ...]:
        found: list[int] = []
        start = 0
        while start < len(word) <= _LONGEST_WORD:
            mark = "##" if start else ""
            for end in range(len(word), start, -1):
                number = self._known.get(mark + word[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return (UNKNOWN,)
        return tuple(found) or (UNKNOWN,)


def _plain(text: str) -> str:
    """Lower case, without accents."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFD", text.lower())
    return "".join(char for char in folded if not unicodedata.combining(char))
