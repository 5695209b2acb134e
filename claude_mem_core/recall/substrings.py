"""Words of the index that hold a part of a word, from the trigram index over words."""

from __future__ import annotations

import apsw

from claude_mem_core.recall.units import Unit, quoted

MOST = 40  # words that a part may stand for, the nearest in length
_SHORTEST = 3
_SHORTEST_WRONG = 5  # letters of a word that may be mistyped
_TWO_ERRORS = 8  # letters from which on two errors are forgiven
_MOST_SPELLINGS = 10

_SQL = """
  SELECT word FROM memory_words_trigram WHERE word LIKE ?
  ORDER BY length(word), word LIMIT ?
"""
_SAME_START = """
  SELECT word FROM memory_words
  WHERE word >= ? AND word < ? AND length(word) BETWEEN ? AND ?
"""


def expansions(conn: apsw.Connection, unit: Unit) -> list[str]:
    """Phrases that match longer words holding `unit`; empty when there are none.

    A word that punctuation splits may go on at its end; so may one with digits.
    """
    if unit.wide or len(unit.parts) != 1:
        return [quoted(unit.text, prefix=True)] if len(unit.text) >= _SHORTEST else []
    word = unit.parts[0].casefold()
    if len(word) < _SHORTEST:
        return []
    if not word.isalpha():
        return [quoted(word, prefix=True)]
    longer = conn.execute(_SQL, (f"%{word}%", MOST + 1))
    return [quoted(found) for (found,) in longer if found != word][:MOST]


def spellings(conn: apsw.Connection, unit: Unit) -> list[str]:
    """Phrases for the words nearest to one that is nowhere: a typing error or two.

    The first letter has to be right. Asked only for words that nothing holds.
    """
    if unit.wide or len(unit.parts) != 1:
        return []
    word = unit.parts[0].casefold()
    if len(word) < _SHORTEST_WRONG or not word.isalpha():
        return []
    errors = 1 if len(word) < _TWO_ERRORS else 2
    values = (word[0], word[0] + chr(0x10FFFF), len(word) - errors, len(word) + errors)
    near = [
        (distance, other)
        for (other,) in conn.execute(_SAME_START, values)
        if (distance := apart(word, str(other), errors)) <= errors
    ]
    return [quoted(other) for _, other in sorted(near)[:_MOST_SPELLINGS]]


def apart(one: str, other: str, most: int) -> int:
    """How many letters are wrong, missing, too many or swapped; above `most`, more."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        last, before = before, row
        row = [i]
        for j, wanted in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]
