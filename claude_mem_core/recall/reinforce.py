"""Rows that later days confirmed keep their place among newer ones (ACT-R's decay).

A day counts as a confirmation of an observation when work of that day is among its
evidence, or when another one says the same (its title, apart from case and signs): then
the newest of these stands for all. Only days count, so a day gives the same order all
day long.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence

import apsw
import attrs

from claude_mem_core.recall import dates
from claude_mem_core.recall.context_rows import Row
from claude_mem_core.store import fetch
from claude_mem_core.store.draft import title_key

POOL = 10  # times as many rows are looked at as are wanted
MOST = 1_000
NEWEST = 4  # one part of so many is always by time alone
DECAY = -0.5
_EVIDENCE = """
  SELECT v.memory_id, e.at_ms FROM evidence v JOIN events e ON e.id = v.event_id
  WHERE v.kind = 'observation' AND v.memory_id IN (SELECT value FROM json_each(?))
"""


@attrs.frozen
class Chosen:
    """The rows, newest first, and why those are there that time alone would leave out."""

    rows: list[Row]
    reasons: Mapping[str, str]


def pool_size(limit: int) -> int:
    """How many rows to choose from."""
    return min(max(POOL * limit, limit), MOST)


def chosen(
    conn: apsw.Connection, pool: Sequence[Row], limit: int, alpha: float, now_ms: int
) -> Chosen:
    """`limit` rows out of `pool` (newest first) by `ln(1 + a^-0.5 + ALPHA * sum(a_k^-0.5))`.

    `a` is the age in days of the row, `a_k` that of each day which confirmed it. The
    newest quarter stays whatever its score. With `alpha` 0 the newest are chosen.
    """
    if alpha <= 0:
        return Chosen(list(pool[:limit]), {})
    today = dates.day_number(now_ms)
    days = _days(conn, pool)
    alone = _newest_of_each(pool)
    kept = alone[: -(-limit // NEWEST)]
    rest = alone[len(kept) :]
    scores = {row.id: _score(row, days[row.id], alpha, today) for row in rest}
    rest.sort(key=lambda row: (-scores[row.id], -row.created_ms, -row.id))
    rows = [*kept, *rest[: limit - len(kept)]]
    rows.sort(key=lambda row: (-row.created_ms, -row.id))
    usual = {row.id for row in pool[:limit]}
    climbed = (row for row in rows if row.id not in usual)
    return Chosen(rows, {row.key: _reason(row, days[row.id]) for row in climbed})


def _days(conn: apsw.Connection, pool: Sequence[Row]) -> dict[int, set[int]]:
    """The days of which each row has evidence, those of its equals included."""
    own = {row.id: {dates.day_number(row.created_ms)} for row in pool}
    for number, at_ms in fetch.rows(conn, _EVIDENCE, json.dumps(list(own))):
        own[number].add(dates.day_number(at_ms))
    for equals in _groups(pool):
        together = set().union(*(own[row.id] for row in equals))
        own.update((row.id, together) for row in equals)
    return own


def _groups(pool: Iterable[Row]) -> Iterable[list[Row]]:
    found: dict[tuple[str, str], list[Row]] = {}
    for row in pool:
        found.setdefault((row.type, title_key(row.title) or row.key), []).append(row)
    return found.values()


def _newest_of_each(pool: Sequence[Row]) -> list[Row]:
    first = {equals[0].id for equals in _groups(pool)}
    return [row for row in pool if row.id in first]


def _score(row: Row, days: Iterable[int], alpha: float, today: int) -> float:
    made = dates.day_number(row.created_ms)
    later = [day for day in days if day != made]
    return math.log(1 + _faded(made, today) + alpha * sum(_faded(day, today) for day in later))


def _faded(day: int, today: int) -> float:
    return math.pow(max(today - day, 1), DECAY)


def _reason(row: Row, days: Iterable[int]) -> str:
    others = len(set(days) - {dates.day_number(row.created_ms)})
    if not others:
        return "older, by its score"
    return f"confirmed on {others} other day{'s' if others > 1 else ''}"
