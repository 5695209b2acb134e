"""A query as typed, taken apart into what has to be found. No character is an operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from claude_mem_core.recall import words

MOST_UNITS = 48
_LONGEST = 200  # characters of one word
QUERY_LIMIT = 4_000


@attrs.frozen
class Unit:
    """One word of a query.

    Attributes:
        text: the word in one spelling, unspaced script as pairs of characters.
        parts: its parts; more than one when punctuation splits it.
        ident: token of the whole word when a sign at its end carries meaning.
        common: whether it is too common a word to count in a partial match.
        wide: whether it is unspaced script.
        sentence: whether it is so long that it may be a sentence of such a script.
    """

    text: str
    parts: tuple[str, ...]
    ident: str = ""
    common: bool = False
    wide: bool = False
    sentence: bool = False

    @property
    def match(self) -> str:
        """The word as a phrase for FTS5: its parts side by side, in order."""
        return quoted(self.text)

    @property
    def pieces(self) -> list[Unit]:
        """What of it counts by itself in a partial match."""
        if self.sentence:
            return [Unit(text, (text,), wide=True) for text in _phrases(self.text.split())]
        if self.wide or len(self.parts) == 1:
            return [self]
        return [Unit(part, (part,)) for part in self.parts]


def _phrases(pairs: Sequence[str]) -> Iterator[str]:
    """Two characters each, or four letters of an alphabet."""
    for at, pair in enumerate(pairs):
        if not words.is_lettered(pair):
            yield pair
        elif at % 2 == 0 and (at == 0 or at + 3 <= len(pairs)):
            yield " ".join(pairs[at : at + 3])


def quoted(text: str, *, prefix: bool = False) -> str:
    """`text` as one FTS5 phrase, whatever characters are in it."""
    return '"' + text.replace('"', " ") + '"' + (" *" if prefix else "")


def units(text: str) -> tuple[Unit, ...]:
    """The different words of a query, in order; none when it holds no letter or digit."""
    found: dict[str, Unit] = {}
    for chunk in words.normal(text[:QUERY_LIMIT]).split():
        for word in _split(chunk[:_LONGEST]):
            unit = _unit(word)
            if unit is not None:
                found.setdefault(unit.text.casefold() + unit.ident, unit)
    return tuple(found.values())[:MOST_UNITS]


def _split(chunk: str) -> list[str]:
    """A word where a single unspaced character stands at another script, in pieces.

    In the index such a character is part of a pair, so it can't be part of a phrase.
    """
    pieces, last = [], 0
    spans = words.runs(chunk)
    for start, end in spans:
        if end - start == 1 and len(chunk) > 1:
            pieces += [chunk[last:start], chunk[start:end]]
            last = end
    return [piece for piece in [*pieces, chunk[last:]] if piece]


def _unit(word: str) -> Unit | None:
    if not any(char.isalnum() for char in word):
        return None
    text = " ".join(words.spaced(word).split())
    parts = tuple(words.alnum(text))
    wide = bool(words.runs(word))
    return Unit(
        text=text,
        parts=parts,
        ident=words.signed(word),
        common=text.casefold() in words.STOP,
        wide=wide,
        sentence=wide and words.says(word) >= words.SENTENCE,
    )
