"""The records nearest to a vector: all within a small scope, by their signs in a large one."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

import apsw
import attrs

from claude_mem_core.types import Query
from claude_mem_search_vector.limits import Limits
from claude_mem_search_vector.numbers import signs
from claude_mem_search_vector.scan import Scan
from claude_mem_search_vector.table import VectorTable

MOST = 200  # that are given
SMALL = 6_000  # records of a scope that are all compared
_ROUGH = (500, 5_000)  # with the nearest signs, which are compared in full
_ENOUGH = 60  # of the first are left by the filters
_SAMPLE = 100


@attrs.frozen
class Asked:
    """A query as a vector of one model, and the table to look in.

    Attributes:
        mean, deviation: how near records are at random, where models are compared.
    """

    table: VectorTable
    scan: Scan
    vector: bytes
    mean: float = 0.0
    deviation: float = 1.0

    def scaled(self, found: Mapping[int, float]) -> dict[int, float]:
        """Likenesses as distances from what chance gives."""
        return {key: (value - self.mean) / self.deviation for key, value in found.items()}

    def spread(self, conn: apsw.Connection) -> dict[str, Any]:
        """How near the newest records are: they stand for any."""
        sql = f"SELECT id FROM {self.table.name} ORDER BY id DESC LIMIT {_SAMPLE}"
        numbers = [row[0] for row in conn.execute(sql)]
        where = self.table.among(numbers, Limits("TRUE", ()))
        values = list(self.table.nearest(conn, self.vector, where, _SAMPLE).values())
        if len(values) < 2:
            return {}
        deviation = statistics.pstdev(values) or 1.0
        return {"mean": statistics.fmean(values), "deviation": deviation}


def nearest(
    conn: apsw.Connection, asked: Asked, query: Query, where: Limits
) -> dict[int, float]:
    """The nearest records within `where` and how near they are, best first."""
    if query.project_ids is not None and _records(conn, query.project_ids) <= SMALL:
        return asked.table.nearest(conn, asked.vector, where, MOST)
    with asked.scan.lock:
        if not asked.scan.loaded:
            asked.scan.load(asked.table.all_signs(conn))
    found: dict[int, float] = {}
    for most in _ROUGH:
        rough = asked.scan.nearest(signs(asked.vector), most, query.kinds, query.project_ids)
        within = asked.table.among(rough, where)
        found = asked.table.nearest(conn, asked.vector, within, MOST)
        if len(found) >= _ENOUGH or len(rough) < most:
            break
    return found


def _records(conn: apsw.Connection, projects: tuple[int, ...]) -> int:
    marks = ",".join("?" * len(projects))
    sql = f"SELECT sum(n) FROM totals WHERE project_id IN ({marks})"
    return next(conn.execute(sql, projects))[0] or 0
