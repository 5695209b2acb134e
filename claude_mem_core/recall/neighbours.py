"""Observations beside good ones in their session: what was asked and what came of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import apsw

from claude_mem_core.store import fetch
from claude_mem_core.types import DocKind

Key = tuple[DocKind, int]

SPAN = 2  # on either side
SHARE = 0.6  # of the best neighbour's score that a record gets on top of its own
_LOOKED_AT = 120  # best records whose neighbours are looked for

_SESSION = "SELECT session_db_id FROM observations WHERE id = ?"
_BEFORE = (
    "SELECT id FROM observations WHERE session_db_id = ? AND id < ? ORDER BY id DESC LIMIT ?"
)
_AFTER = "SELECT id FROM observations WHERE session_db_id = ? AND id > ? ORDER BY id LIMIT ?"


def raised(
    conn: apsw.Connection, scores: Mapping[Key, float], *, new: bool
) -> dict[Key, float]:
    """Scores (0 to 1) with what neighbours add; with `new` also of records unknown yet."""
    best = _best(scores)
    gained: dict[Key, float] = {}
    for key in best:
        for near in _beside(conn, key[1]):
            if new or near in scores:
                gained[near] = max(gained.get(near, 0.0), scores[key])
    keys = dict.fromkeys([*scores, *gained])
    return {key: scores.get(key, 0.0) + SHARE * gained.get(key, 0.0) for key in keys}


def _best(scores: Mapping[Key, float]) -> list[Key]:
    there = (key for key in scores if key[0] is DocKind.OBSERVATION)
    return sorted(there, key=lambda key: (-scores[key], -key[1]))[:_LOOKED_AT]


def _beside(conn: apsw.Connection, number: int) -> Iterable[Key]:
    session = fetch.value(conn, _SESSION, number)
    if session is None:
        return
    for sql in (_BEFORE, _AFTER):
        for (near,) in fetch.rows(conn, sql, session, number, SPAN):
            yield DocKind.OBSERVATION, near


def superseded(conn: apsw.Connection, keys: Collection[Key]) -> set[Key]:
    """Those that a later memory took the place of."""
    found: set[Key] = set()
    for kind, table in (
        (DocKind.OBSERVATION, "observations"), (DocKind.SUMMARY, "session_summaries"),
    ):  # fmt: skip
        ids = [number for of, number in keys if of is kind]
        marks = ",".join("?" * len(ids))
        sql = f"SELECT id FROM {table} WHERE id IN ({marks}) AND superseded_by IS NOT NULL"
        found.update((kind, number) for (number,) in fetch.rows(conn, sql, *ids))
    return found
