"""Counts by day of what was accepted, skipped, refused."""

from __future__ import annotations

import apsw

from claude_mem_core.store import fetch, text

ADD = """
  INSERT INTO counters (day, name, n) VALUES (?, ?, ?)
  ON CONFLICT DO UPDATE SET n = n + excluded.n
"""


def add(conn: apsw.Connection, name: str, now_ms: int, n: int = 1) -> None:
    """Count `n` more of `name` for the day of `now_ms`."""
    conn.execute(ADD, (text.day(now_ms), name, n))


def total(conn: apsw.Connection, name: str) -> int:
    """The sum of `name` over all days."""
    return int(fetch.value(conn, "SELECT total(n) FROM counters WHERE name = ?", name))


def since(conn: apsw.Connection, day: str) -> dict[str, int]:
    """All counts from `day` (ISO date) on, by name."""
    sql = "SELECT name, sum(n) FROM counters WHERE day >= ? GROUP BY name"
    return dict(fetch.rows(conn, sql, day))
