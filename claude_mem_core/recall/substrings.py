"""Words of the index that hold a part of a word, from the trigram index over words."""

from __future__ import annotations

import apsw

from claude_mem_core.recall.units import Unit, quoted

MOST = 40  # words that a part may stand for, the nearest in length
_SHORTEST = 3

_SQL = """
  SELECT word FROM memory_words_trigram WHERE word LIKE ?
  ORDER BY length(word), word LIMIT ?
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
