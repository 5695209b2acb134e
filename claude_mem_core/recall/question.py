"""Whether a query asks for a meaning: in words of a sentence, not for a name or a sign."""

from __future__ import annotations

from claude_mem_core.recall.units import Unit, units
from claude_mem_core.types import Query

_WORDS = 3  # plain words that make a sentence, common ones among them
_TELLING = 2  # or so many that are not common
_SENTENCE = 4  # plain words from which on what stands beside an answer may answer too
_SIGNS_A_WORD = 4  # characters of unspaced script that count as a word


def by_meaning(query: Query) -> bool:
    """Whether records may fit that do not hold the words.

    Never for a query in quotes, one that wants every word, or one that wants dates.
    """
    if query.match_all or query.order != "relevance" or '"' in query.text:
        return False
    words = [(unit, _plain(unit)) for unit in units(query.text)]
    telling = sum(count for unit, count in words if not unit.common)
    return telling >= _TELLING or sum(count for _, count in words) >= _WORDS


def sentence(query: Query) -> bool:
    """Whether it is a whole question, so that a neighbour without its words may answer."""
    return sum(_plain(unit) for unit in units(query.text)) >= _SENTENCE


def _plain(unit: Unit) -> int:
    """How many plain words a unit is; 0 for an identifier, a path, a number."""
    if unit.wide:
        return sum(map(len, unit.parts)) // (2 * _SIGNS_A_WORD)  # parts are pairs
    return int(len(unit.parts) == 1 and unit.text.isalpha() and not unit.ident)
