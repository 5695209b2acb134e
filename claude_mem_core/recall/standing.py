"""Rows that stand in a context for another reason than their time: pinned, useful, yours."""

from __future__ import annotations

from itertools import product

import apsw

from claude_mem_core.recall.context_rows import (
    BY_AGENT,
    BY_HOST,
    COLUMNS,
    Row,
    Wanted,
    row_of,
    speaking,
)
from claude_mem_core.store import fetch

_PINNED = """
  SELECT {columns} FROM observations
  WHERE id IN (SELECT record_id FROM pins
      WHERE kind = 'observation' AND project_id = ? ORDER BY at_ms DESC LIMIT 20)
    AND superseded_by IS NULL
"""
_USEFUL = """
  SELECT {columns} FROM observations JOIN feedback ON memory_id = id
  WHERE useful AND NOT outdated AND project_id = :project AND superseded_by IS NULL {limits}
  ORDER BY useful DESC, created_at_epoch DESC, id DESC LIMIT :most
"""
_PERSONAL = """
  SELECT {columns} FROM observations JOIN personal ON memory_id = id
  WHERE superseded_by IS NULL ORDER BY place, id
"""


def pinned(conn: apsw.Connection, what: Wanted) -> list[Row]:
    """What a person pinned in these projects, newest first; at most 20 of each project."""
    sql = _PINNED.format(columns=COLUMNS)
    rows = [row_of(row) for project in what.project_ids for row in fetch.rows(conn, sql, project)]
    found, _ = speaking(rows)
    return sorted(found, key=lambda row: (-row.created_ms, -row.id))


def useful(conn: apsw.Connection, what: Wanted, most: int) -> list[Row]:
    """What people call useful in these projects, newest first; a few of each."""
    agent = BY_AGENT if what.main_agent_only else ""
    found: list[Row] = []
    for project, host in product(what.project_ids, what.hosts or (None,)):
        limits = f"{agent} {'' if host is None else BY_HOST}"
        values = {"project": project, "host": host, "most": most}
        sql = _USEFUL.format(columns=COLUMNS, limits=limits)
        found += map(row_of, conn.execute(sql, values))
    found.sort(key=lambda row: (-row.created_ms, -row.id))
    return speaking(found)[0][:most]


def personal(conn: apsw.Connection) -> list[Row]:
    """What belongs to the person, in its own order."""
    rows = map(row_of, fetch.rows(conn, _PERSONAL.format(columns=COLUMNS)))
    return speaking(list(rows))[0]
