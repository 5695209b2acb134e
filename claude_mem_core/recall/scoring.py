"""Ranks what FTS5 matched: BM25 over weighted columns, without reading whole postings.

The ranking function of FTS5 counts every posting of every word first, which makes a
common word cost what the store is large. Ours gets the counts handed in and only looks
at the rows of a window.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any
from weakref import WeakSet

import apsw
import attrs

from claude_mem_core.recall.documents import bounds
from claude_mem_core.store import fetch
from claude_mem_core.types import DocKind

# title, subtitle, narrative, facts, concepts, files, idents, scope
COLUMN_WEIGHTS = (3.0, 1.5, 1.0, 1.5, 1.0, 1.5, 1.0, 0.0)
KIND_WEIGHTS = {DocKind.OBSERVATION: 1.0, DocKind.SUMMARY: 0.9, DocKind.PROMPT: 0.8}
WINDOW = 2_000
_SATURATION = 1.2
_LENGTH = 0.5  # how much long records are held back, 0 to 1
_RECENCY = 0.02  # share of the best score that the newest of a window gets on top

_SQL = """
  SELECT rowid, mem_score(memory_index, ?) FROM memory_index
  WHERE memory_index MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid {} LIMIT ?
"""
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
    """The newest rows (or oldest) of one kind that matched, best first."""

    rowids: tuple[int, ...]
    scores: tuple[float, ...]
    full: bool
    last: int


def window(
    conn: apsw.Connection,
    kind: DocKind,
    match: str,
    weights: Sequence[float],
    *,
    size: int = WINDOW,
    oldest: bool = False,
) -> Window:
    """Match `match` in the records of `kind`; score the `size` newest of them."""
    _teach(conn)
    first, last = bounds(kind)
    sql = _SQL.format("ASC" if oldest else "DESC")
    rows = fetch.rows(conn, sql, json.dumps(weights), match, first, last, size)
    return Window(*_ranked(rows, kind), len(rows) == size, rows[-1][0] if rows else 0)


def _ranked(
    rows: Sequence[tuple[Any, ...]], kind: DocKind
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    if not rows:
        return (), ()
    ids = [rowid for rowid, _ in rows]
    low, span = min(ids), max(max(ids) - min(ids), 1)
    top = _RECENCY * max(score for _, score in rows)
    factor = KIND_WEIGHTS[kind]
    scored = [(factor * (score + top * (rowid - low) / span), rowid) for rowid, score in rows]
    scored.sort(key=lambda pair: (-pair[0], -pair[1]))
    return tuple(rowid for _, rowid in scored), tuple(score for score, _ in scored)


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
    """The score of the present row; called by SQLite for each row of a window."""
    plan = api.aux_data
    if plan is None:
        plan = api.aux_data = _plan(api, args[0])
    phrases, average = plan
    held_back = _SATURATION * (1 - _LENGTH + _LENGTH * api.column_size() / average)
    total = 0.0
    for number, weight in phrases:
        hits = 0.0
        for worth, places in zip(COLUMN_WEIGHTS, api.phrase_locations(number), strict=True):
            if places:
                hits += worth * len(places)
        if hits:
            total += weight * hits * (_SATURATION + 1) / (hits + held_back)
    return total


def _plan(
    api: apsw.FTS5ExtensionApi, weights_json: str
) -> tuple[list[tuple[int, float]], float]:
    weights = json.loads(weights_json)
    phrases = [(number, weight) for number, weight in enumerate(weights) if weight]
    return phrases, max(1.0, api.column_total_size() / max(1, api.row_count))
