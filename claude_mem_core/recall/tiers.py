"""The steps of a keyword search, strict ones first.

exact: every word, those with a sign at an end as written (`C++`); whole: every word;
inside: every word, some as part of a longer one or spelt otherwise; some: the rarest words, ranked by all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import apsw
import attrs

from claude_mem_core.recall import words
from claude_mem_core.recall.counts import Counts, records
from claude_mem_core.recall.scoring import Expression, rarity
from claude_mem_core.recall.substrings import expansions, spellings
from claude_mem_core.recall.units import MOST_UNITS, Unit, quoted, units

POSTINGS = 5_000  # records that a partial match looks at
_LONGER = 10  # longer words that stand for a part when no word is found at all
_MOST_INSIDE = 6  # words of a query in which parts of words are looked for
_INSIDE = 0.8  # worth of a longer word, as a share of the word's own


@attrs.frozen
class Match:
    """One expression for FTS5 and the worth of each of its phrases, in order."""

    text: str
    weights: tuple[float, ...]


@attrs.frozen
class Tier:
    """One step of a search; `complete` when its records hold every word."""

    name: str
    match: Match
    complete: bool = True


class Tiers:
    """Makes the steps for one query. Counting words needs the connection."""

    def __init__(self, conn: apsw.Connection, counts: Counts, text: str) -> None:
        self._conn = conn
        self._counts = counts
        self._total = records(conn)
        self.units = units(text)

    def __call__(self, *, partial: bool) -> Iterator[Tier]:
        """The steps in order; each is made when it is asked for."""
        if any(unit.ident for unit in self.units):
            yield self._exact()
        yield self._whole()
        inside = self._inside()
        if inside is not None:
            yield inside
        if partial and (len(self.units) > 1 or len(self._pieces()) > 1):
            yield self._some()

    def _worth(self, match: str) -> float:
        return rarity(self._counts.of(self._conn, match), self._total)

    def _exact(self) -> Tier:
        made = Expression()
        phrases = [made.phrase(unit.match, self._worth(unit.match)) for unit in self.units]
        for unit in self.units:
            if unit.ident:
                ident = quoted(unit.ident)
                phrases.append(made.phrase(ident, self._worth(ident)))
        return Tier("exact", Match(" AND ".join(phrases), tuple(made.weights)))

    def _whole(self) -> Tier:
        made = Expression()
        phrases = [made.phrase(unit.match, self._worth(unit.match)) for unit in self.units]
        return Tier("whole", Match(" AND ".join(phrases), tuple(made.weights)))

    def _inside(self) -> Tier | None:
        """None when no word could be part of a longer one, or one is nowhere at all."""
        if len(self.units) > _MOST_INSIDE:
            return None
        longer: list[list[str]] = []
        for unit in self.units:
            found = [] if unit.common else expansions(self._conn, unit)
            if not found and not self._counts.of(self._conn, unit.match):
                found = spellings(self._conn, unit)
                if not found:
                    return None
            longer.append(found)
        if not any(longer):
            return None
        made = Expression()
        either = [self._either(made, *pair) for pair in zip(self.units, longer, strict=True)]
        return Tier("inside", Match(" AND ".join(either), tuple(made.weights)))

    def _either(self, made: Expression, unit: Unit, longer: Sequence[str]) -> str:
        """The word itself or one of the longer ones."""
        worth = self._worth(unit.match)
        parts = [made.phrase(unit.match, worth)]
        parts += [made.phrase(match, _INSIDE * worth) for match in longer]
        return "(" + " OR ".join(parts) + ")"

    def _pieces(self) -> list[Unit]:
        """The words that count in a partial match; split words in their parts."""
        pieces: dict[str, Unit] = {}
        for unit in self.units:
            for piece in unit.pieces:
                pieces.setdefault(piece.text.casefold(), piece)
        telling = [piece for piece in pieces.values() if not _common(piece)]
        return (telling or list(pieces.values()))[:MOST_UNITS]

    def _some(self) -> Tier:
        """The rarest words choose the records, all words rank them."""
        chosen, rest = _rarest(self._counted())
        made = Expression()
        choice = " OR ".join(made.phrase(m, rarity(n, self._total)) for n, m in chosen)
        if rest:
            again = " OR ".join(made.phrase(m, 0.0) for _, m in chosen)
            others = " OR ".join(made.phrase(m, rarity(n, self._total)) for n, m in rest)
            choice = f"({choice}) AND ({again} OR {others})"
        return Tier("some", Match(choice, tuple(made.weights)), complete=False)

    def _counted(self) -> list[tuple[int, str]]:
        """Words with the number of their records, the rarest first.

        When none of them is anywhere, longer words that hold one of them.
        """
        pieces = self._pieces()
        matches = [match for piece in pieces for match in self._there(piece)]
        if not any(self._counts.of(self._conn, match) for match in matches):
            longer = (expansions(self._conn, p)[:_LONGER] for p in pieces[:_MOST_INSIDE])
            matches = [match for some in longer for match in some] or matches
        counted = [
            (self._counts.of(self._conn, match), match) for match in dict.fromkeys(matches)
        ]
        return sorted(counted, key=lambda pair: pair[0])

    def _there(self, piece: Unit) -> list[str]:
        """The word, or its nearest spellings when it is nowhere."""
        if self._counts.of(self._conn, piece.match):
            return [piece.match]
        return spellings(self._conn, piece) or [piece.match]


def _common(piece: Unit) -> bool:
    return piece.common or piece.text.casefold() in words.STOP


def _rarest(
    counted: Sequence[tuple[int, str]],
) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """The rarest words as long as their records stay within bounds, and the others."""
    there = [pair for pair in counted if pair[0]] or list(counted[:1])
    total, number = there[0][0], 1
    while number < len(there) and total + there[number][0] <= POSTINGS:
        total += there[number][0]
        number += 1
    return list(there[:number]), list(there[number:])
