"""Where projects were last seen, so that one whose folder was moved is known again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import apsw
import attrs

from claude_mem_core.store import fetch

if TYPE_CHECKING:
    from claude_mem_core.projects import Place

SEEN = "SELECT project_key, repository, first_commit FROM project_places"
KNOWN = "SELECT 1 FROM projects WHERE key = ?"
NOTE = """
  INSERT INTO project_places (project_key, repository, first_commit, seen_at_epoch)
  VALUES (?1, ?2, ?3, ?4)
  ON CONFLICT (project_key) DO UPDATE SET repository = ?2,
    first_commit = coalesce(?3, first_commit), seen_at_epoch = ?4
"""


@attrs.frozen
class Seen:
    """A project's key, its git directory when it was last seen, and its first commit."""

    key: str
    repository: str
    first_commit: str | None


def is_known(conn: apsw.Connection, key: str) -> bool:
    """Whether something was ever recorded at this place."""
    return fetch.row(conn, KNOWN, key) is not None


def seen(conn: apsw.Connection, key: str) -> Seen | None:
    """What is kept of a place."""
    found = fetch.row(conn, f"{SEEN} WHERE project_key = ?", key)
    return Seen(*found) if found else None


def gone(conn: apsw.Connection, first_commit: str | None = None) -> list[Seen]:
    """Places that are not there any more; all of them, or those of one first commit."""
    which = "IS NOT NULL" if first_commit is None else "= ?"
    values = () if first_commit is None else (first_commit,)
    rows = fetch.rows(conn, f"{SEEN} WHERE first_commit {which}", *values)
    return [Seen(*row) for row in rows if not os.path.lexists(row[1])]


def note(conn: apsw.Connection, place: Place, first_commit: str | None, now: int) -> None:
    """Keep where a project is, its first commit and its remote as they are now."""
    conn.execute(NOTE, (place.key, place.repository, first_commit, now))
    remote = "UPDATE projects SET remote = ? WHERE key = ? AND remote IS NOT ?"
    conn.execute(remote, (place.remote, place.key, place.remote))


def follow(conn: apsw.Connection, place: Place, first_commit: str, now: int) -> Seen | None:
    """Give the project that moved to `place` its new key; where it was before.

    None when there is none, or when several places of that first commit are gone: which
    of them this is only the user can say.
    """
    moved = gone(conn, first_commit)
    if len(moved) != 1 or is_known(conn, place.key):
        return None
    conn.execute("UPDATE projects SET key = ? WHERE key = ?", (place.key, moved[0].key))
    conn.execute("DELETE FROM project_places WHERE project_key = ?", (moved[0].key,))
    note(conn, place, first_commit, now)
    return moved[0]
