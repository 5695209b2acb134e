"""Observations beside good ones in their session: what was asked and what came of it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import nsmallest

import apsw

from claude_mem_core.store import fetch
from claude_mem_core.types import DocKind

Key = tuple[DocKind, int]

SPAN = 2  # on either side
SHARE = 0.6  # of the best neighbour's score that a record gets on top of its own
_LOOKED_AT = 120  # best records whose neighbours are looked for

_BESIDE = """
  SELECT o.id,
    (SELECT group_concat(id) FROM (SELECT id FROM observations b
      WHERE b.session_db_id = o.session_db_id AND b.id < o.id ORDER BY b.id DESC LIMIT ?2)),
    (SELECT group_concat(id) FROM (SELECT id FROM observations a
      WHERE a.session_db_id = o.session_db_id AND a.id > o.id ORDER BY a.id LIMIT ?2))
  FROM observations o WHERE o.id IN (SELECT value FROM json_each(?1))
"""


def raised(
    conn: apsw.Connection, scores: Mapping[Key, float], *, new: bool
) -> dict[Key, float]:
    """Scores (0 to 1) with what neighbours add; with `new` also of records unknown yet."""
    gained: dict[Key, float] = {}
    for number, beside in _beside(conn, _best(scores)):
        score = scores[DocKind.OBSERVATION, number]
        for near in ((DocKind.OBSERVATION, other) for other in beside):
            if new or near in scores:
                gained[near] = max(gained.get(near, 0.0), score)
    keys = dict.fromkeys([*scores, *gained])
    return {key: scores.get(key, 0.0) + SHARE * gained.get(key, 0.0) for key in keys}


def _best(scores: Mapping[Key, float]) -> list[int]:
    there = (key for key in scores if key[0] is DocKind.OBSERVATION)
    best = nsmallest(_LOOKED_AT, there, key=lambda key: (-scores[key], -key[1]))
    return [number for _, number in best]


def _beside(conn: apsw.Connection, numbers: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """The observations on either side of each, in its session."""
    for number, before, after in fetch.rows(conn, _BESIDE, json.dumps(numbers), SPAN):
        yield (
            number,
            [int(other) for some in (before, after) if some for other in some.split(",")],
        )


def inside(
    conn: apsw.Connection, keys: Collection[Key], project_ids: Collection[int]
) -> set[Key]:
    """The observations among `keys` that lie in these projects."""
    ids = json.dumps([number for of, number in keys if of is DocKind.OBSERVATION])
    sql = """SELECT id FROM observations WHERE id IN (SELECT value FROM json_each(?))
      AND project_id IN (SELECT value FROM json_each(?))"""
    rows = fetch.rows(conn, sql, ids, json.dumps(list(project_ids)))
    return {(DocKind.OBSERVATION, number) for (number,) in rows}


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
