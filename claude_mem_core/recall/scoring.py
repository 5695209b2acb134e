"""Ranks what FTS5 matched: BM25 over weighted columns, without reading whole postings.

The ranking function of FTS5 counts every posting of every word and looks up the length
of every row, which makes a common word cost what the store is large. Ours gets the
counts handed in, looks only at the newest rows that match, and weighs the length of
the best of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from heapq import nsmallest
from typing import Any
from weakref import WeakSet

import apsw
import attrs

from claude_mem_core.recall.documents import bounds
from claude_mem_core.recall.lengths import average, lengths
from claude_mem_core.store import fetch
from claude_mem_core.types import DocKind

KIND_WEIGHTS = {DocKind.OBSERVATION: 1.0, DocKind.SUMMARY: 0.9, DocKind.PROMPT: 0.8}
WINDOW = 2_000
BEST = 200  # rows whose length is looked up
TITLE, DETAIL, FILES = 3.0, 1.5, 1.5  # worth of a hit in these fields; elsewhere 1
_SATURATION = 1.2
_LENGTH = 0.3  # how much long records are held back, 0 to 1
_RECENCY = 0.02  # share of the best score that the newest of a window gets on top

_SQL = """
  SELECT rowid, mem_score(memory_index, ?) FROM memory_index
  WHERE memory_index MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?
"""
_PLAIN = """
  SELECT rowid FROM memory_index
  WHERE memory_index MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid {} LIMIT ?
"""
Ranked = tuple[bool, float, int]  # behind the others, score and row, both negative
_taught: WeakSet[apsw.Connection] = WeakSet()


@attrs.frozen
class Scored:
    """One matched row of the index; `behind` when a later memory took its place."""

    rowid: int
    score: float
    complete: bool
    behind: bool = False


class Expression:
    """Builds a MATCH expression and remembers what each of its phrases is worth."""

    def __init__(self) -> None:
        self.weights: list[float] = []

    def phrase(self, match: str, weight: float) -> str:
        """Use one phrase; `weight` is its share of the score, 0 for filters."""
        self.weights.append(weight)
        return match


@attrs.frozen
class Window:
    """The newest rows of one kind that matched.

    Attributes:
        best: the best of them, best first.
        full: whether more matched than were looked at.
        last: the row at which looking ended.
    """

    best: tuple[Scored, ...] = ()
    full: bool = False
    last: int = 0


def window(
    conn: apsw.Connection, kind: DocKind, match: str, weights: Sequence[float], best: int,
    *, size: int = WINDOW, behind: frozenset[int] = frozenset(), complete: bool = True,
) -> Window:  # fmt: skip
    """Match `match` in the records of `kind`; of the `size` newest keep the `best` best.

    Rows in `behind` come after all others.
    """
    _teach(conn)
    first, last = bounds(kind)
    rows = fetch.rows(conn, _SQL, json.dumps(weights), match, first, last, size)
    if not rows:
        return Window()
    kept = _ranked(conn, rows, kind, best, behind)
    found = (Scored(-i, -score, complete, late) for late, score, i in kept[:best])
    return Window(tuple(found), len(rows) == size, rows[-1][0])


def _ranked(
    conn: apsw.Connection, rows: Sequence[fetch.Row], kind: DocKind, best: int,
    behind: frozenset[int],
) -> list[Ranked]:  # fmt: skip
    """Best first. The length is weighed for the same rows whatever page is asked for."""
    high, low = rows[0][0], rows[-1][0]
    newer = _RECENCY * max(score for _, score in rows) / max(high - low, 1)
    factor = KIND_WEIGHTS[kind]
    scored = (
        (rowid in behind, -factor * (score + newer * (rowid - low)), -rowid)
        for rowid, score in rows
    )
    kept = nsmallest(max(best, BEST), scored)
    weighed = _weighed(conn, kept[:BEST])
    lowest = max(score for _, score, _ in weighed)  # scores are negative here
    return [*weighed, *((late, max(score, lowest), i) for late, score, i in kept[BEST:])]


def _weighed(conn: apsw.Connection, kept: Sequence[Ranked]) -> list[Ranked]:
    sizes, usual = lengths(conn, [-rowid for _, _, rowid in kept]), average(conn)
    return sorted(
        (late, score * _held_back(sizes.get(-i), usual), i) for late, score, i in kept
    )


def rows_of(
    conn: apsw.Connection, kind: DocKind, match: str, size: int, *, oldest: bool = False
) -> list[int]:
    """The newest (or oldest) `size` rows of one kind that match, not ranked."""
    sql = _PLAIN.format("ASC" if oldest else "DESC")
    return [row[0] for row in fetch.rows(conn, sql, match, *bounds(kind), size)]


def _held_back(size: int | None, usual: float) -> float:
    """What is left of a score for a record of that length; 1 for a usual one."""
    if size is None:
        return 1.0
    norm = 1 - _LENGTH + _LENGTH * size / usual
    return (1 + _SATURATION) / (1 + _SATURATION * norm)


def rarity(count: int, total: int) -> float:
    """How much a word that `count` of `total` records hold tells (its idf)."""
    count = min(count, total)
    return math.log(1 + (total - count + 0.5) / (count + 0.5))


def _teach(conn: apsw.Connection) -> None:
    """Give a connection the ranking function; once, for FTS5 never forgets one."""
    if conn not in _taught:
        conn.register_fts5_function("mem_score", _score)
        _taught.add(conn)


def _score(api: apsw.FTS5ExtensionApi, /, *args: Any) -> float:
    """The score of the present row; called by SQLite for each row of a window.

    A hit counts what its field is worth, in the scope nothing. A phrase that did not
    match is not looked at a second time.
    """
    plan = api.aux_data
    if plan is None:
        plan = api.aux_data = [(n, w) for n, w in enumerate(json.loads(args[0])) if w]
    total = 0.0
    for number, weight in plan:
        title, sub, text, facts, concepts, files, idents, _ = api.phrase_locations(number)
        hits = (
            TITLE * len(title)
            + DETAIL * (len(sub) + len(facts))
            + FILES * len(files)
            + len(text)
            + len(concepts)
            + len(idents)
        )
        if hits:
            total += weight * hits / (hits + _SATURATION)
    return total
