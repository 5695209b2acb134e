"""Memories that belong to the person: few, in an order, given in every project.

A memory is promoted by being listed here; its row stays what and where it is. What was
written for every project from the start has a partition of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

import apsw
import attrs

from claude_mem_core.errors import InvalidInput, NotFound
from claude_mem_core.store import fetch
from claude_mem_core.store.projects import ProjectRef, free_label
from claude_mem_core.store.rows import shown
from claude_mem_core.types import DocKind

KEY = "personal"  # of the project that holds what was written for all of them
MOST = 30
FULL = (
    f"{MOST} memories are personal already, and every session reads all of them;"
    " `mem personal` lists them, `mem demote ID` makes room"
)
LISTED = f"""
  SELECT o.id, o.title, {shown('o.project')}, o.trust, o.superseded_by
  FROM personal p JOIN observations o ON o.id = p.memory_id ORDER BY p.place, p.memory_id
"""
MAKE = """
  INSERT INTO projects (key, label, kind, created_at_epoch) VALUES (?, ?, 'named', ?)
"""
REINDEX = "INSERT INTO changes (kind, record_id, op) VALUES ('observation', ?, 'put')"


@attrs.frozen
class Personal:
    """One of them, as a list shows it."""

    id: int
    title: str
    project: str
    trust: str
    superseded_by: int | None


def listed(conn: apsw.Connection) -> list[Personal]:
    """All of them, in their order."""
    return [Personal(*row) for row in fetch.rows(conn, LISTED)]


def ids(conn: apsw.Connection) -> list[int]:
    """Their ids, in their order."""
    rows = fetch.rows(conn, "SELECT memory_id FROM personal ORDER BY place, memory_id")
    return [row[0] for row in rows]


def promote(conn: apsw.Connection, number: int, place: int | None, now: int) -> int:
    """Give a memory to the person, at a place counted from 1, or last; its place.

    One that is personal already moves there.

    Raises:
        NotFound: there is no such memory.
        InvalidInput: it does not hold any more, or there are too many.
    """
    superseded = fetch.row(conn, "SELECT superseded_by FROM observations WHERE id = ?", number)
    if superseded is None:
        raise NotFound(f"#{number} not found; `mem search WORDS` finds what is there")
    if superseded[0] is not None:
        raise InvalidInput(f"#{number} no longer holds; see `mem why {number}`")
    before = ids(conn)
    order = [one for one in before if one != number]
    if len(order) >= MOST:
        raise InvalidInput(FULL)
    at = len(order) if place is None else min(max(place, 1) - 1, len(order))
    _arrange(conn, [*order[:at], number, *order[at:]], now)
    if number not in before:
        conn.execute(REINDEX, (number,))
    return at + 1


def demote(conn: apsw.Connection, number: int) -> None:
    """It is a memory of its project again.

    Raises:
        NotFound: it is not personal.
    """
    if number not in ids(conn):
        raise NotFound(f"#{number} is not personal; `mem personal` lists those that are")
    remove(conn, DocKind.OBSERVATION.value, number)
    conn.execute(REINDEX, (number,))


def remove(conn: apsw.Connection, kind: str, number: int) -> int | None:
    """Take a memory off the list; the place that it had."""
    if kind != DocKind.OBSERVATION:
        return None
    found = fetch.value(conn, "SELECT place FROM personal WHERE memory_id = ?", number)
    conn.execute("DELETE FROM personal WHERE memory_id = ?", (number,))
    return None if found is None else int(found)


def put_back(conn: apsw.Connection, number: int, place: int, now: int) -> None:
    """List a memory again that came back from the dead, as long as there is room."""
    order = ids(conn)
    if len(order) < MOST:
        conn.execute("INSERT OR IGNORE INTO personal VALUES (?, ?, ?)", (number, place, now))


def project(conn: apsw.Connection, now: int) -> ProjectRef:
    """Where memories lie that were written for every project; made when first needed."""
    row = fetch.row(conn, "SELECT id, label FROM projects WHERE key = ?", KEY)
    if row is None:
        conn.execute(MAKE, (KEY, free_label(conn, KEY), now))
        return project(conn, now)
    return ProjectRef(row[0], row[1], KEY, "named", "")


def _arrange(conn: apsw.Connection, order: Iterable[int], now: int) -> None:
    sql = """INSERT INTO personal VALUES (?, ?, ?)
      ON CONFLICT (memory_id) DO UPDATE SET place = excluded.place"""
    conn.executemany(sql, [(number, at, now) for at, number in enumerate(order, 1)])
