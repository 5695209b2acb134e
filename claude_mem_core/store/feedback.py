"""What people say of memories: useful, outdated; both move what comes later, by little."""

from __future__ import annotations

from collections.abc import Mapping

import apsw
import attrs

from claude_mem_core.store import fetch
from claude_mem_core.store.trash import missing
from claude_mem_core.types import DocKind

MOST = 3  # more praise than this counts no further
STEP = 0.1  # of its score that a memory gains in a search each time
THERE = "SELECT 1 FROM observations WHERE id = ?"
USEFUL = """
  INSERT INTO feedback (memory_id, useful, at_ms) VALUES (?1, 1, ?2)
  ON CONFLICT (memory_id) DO UPDATE SET useful = min(useful + 1, ?3), at_ms = ?2
"""
OUTDATED = """
  INSERT INTO feedback (memory_id, outdated, at_ms) VALUES (?1, 1, ?2)
  ON CONFLICT (memory_id) DO UPDATE SET outdated = 1, at_ms = ?2
"""


@attrs.frozen
class Said:
    """What was said of one memory."""

    useful: int = 0
    outdated: bool = False

    @property
    def factor(self) -> float:
        """By what a search multiplies its score."""
        return 1 + STEP * min(self.useful, MOST)


def say(conn: apsw.Connection, number: int, word: str, now: int) -> Said:
    """Note `useful`, `outdated`, or take these back: `not-useful`, `current`.

    Raises:
        NotFound: there is no such observation.
    """
    if fetch.row(conn, THERE, number) is None:
        raise missing(DocKind.OBSERVATION, number)
    if word == "useful":
        conn.execute(USEFUL, (number, now, MOST))
    elif word == "outdated":
        conn.execute(OUTDATED, (number, now))
    else:
        column = "useful" if word == "not-useful" else "outdated"
        conn.execute(f"UPDATE feedback SET {column} = 0 WHERE memory_id = ?", (number,))
        conn.execute("DELETE FROM feedback WHERE useful = 0 AND outdated = 0")
    return of(conn, number)


def of(conn: apsw.Connection, number: int) -> Said:
    """What was said of one memory."""
    sql = "SELECT useful, outdated FROM feedback WHERE memory_id = ?"
    row = fetch.row(conn, sql, number)
    return Said(row[0], bool(row[1])) if row else Said()


def every(conn: apsw.Connection) -> Mapping[int, Said]:
    """What was said, by memory."""
    rows = fetch.rows(conn, "SELECT memory_id, useful, outdated FROM feedback")
    return {number: Said(useful, bool(outdated)) for number, useful, outdated in rows}
