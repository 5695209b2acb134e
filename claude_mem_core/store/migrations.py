"""Numbered steps from one layout of the tables to the next, each in one transaction."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import apsw
import attrs

from claude_mem_core.store import connect, text
from claude_mem_core.store.identity import APPLICATION_ID
from claude_mem_core.store.snapshot import snapshot

PLACES = """
  CREATE TABLE project_places (
    id INTEGER PRIMARY KEY,
    project_key TEXT NOT NULL UNIQUE,
    repository TEXT NOT NULL,
    first_commit TEXT,
    seen_at_epoch INTEGER NOT NULL
  );
  CREATE INDEX project_places_first ON project_places(first_commit)
    WHERE first_commit IS NOT NULL;
  CREATE INDEX projects_remote ON projects(remote) WHERE remote IS NOT NULL;
"""


@attrs.frozen
class Migration:
    """One step; `apply` runs inside a transaction."""

    number: int
    apply: Callable[[apsw.Connection], None]


def migrate(conn: apsw.Connection, path: Path, now_ms: int) -> int:
    """Bring the tables to the present layout; return how many steps were taken.

    A snapshot is taken before each step, unless the file is a new one.
    """
    present = _version(conn)
    due = [step for step in MIGRATIONS if step.number > present]
    for step in due:
        if present:
            snapshot(path)
        _take(conn, step, now_ms)
    return len(due)


def bring_up(conn: apsw.Connection, now_ms: int) -> None:
    """The same for a copy, of which no copy is kept."""
    for step in MIGRATIONS:
        _take(conn, step, now_ms)


def _take(conn: apsw.Connection, step: Migration, now_ms: int) -> None:
    with connect.transaction(conn):
        if step.number > _version(conn):  # another process may have been faster
            step.apply(conn)
            _mark(conn, step.number, now_ms)


def _version(conn: apsw.Connection) -> int:
    return int(conn.pragma("user_version"))


def _mark(conn: apsw.Connection, number: int, now_ms: int) -> None:
    conn.pragma("application_id", APPLICATION_ID)
    conn.pragma("user_version", number)
    conn.execute("INSERT INTO schema_versions VALUES (?, ?)", (number, text.iso(now_ms)))


def _first(conn: apsw.Connection) -> None:
    for name in ("tables.sql", "index.sql"):
        sql = resources.files(__package__) / name
        if sql.is_file():
            connect.run(conn, sql.read_text(encoding="utf-8"))
    conn.execute("INSERT INTO meta VALUES ('fence_id', ?)", (secrets.token_hex(6),))


def _places(conn: apsw.Connection) -> None:
    """Where a project was last seen, to know it again after a move."""
    connect.run(conn, PLACES)


def _corrections(conn: apsw.Connection) -> None:
    """What people do to memories, and how to take it back."""
    sql = resources.files(__package__) / "corrections.sql"
    connect.run(conn, sql.read_text(encoding="utf-8"))


def _tool_use_ids(conn: apsw.Connection) -> None:
    """Tool uses are asked for by the host's id alone, too."""
    conn.execute("CREATE INDEX tool_uses_use ON tool_uses(tool_use_id)")


def _script(name: str) -> Callable[[apsw.Connection], None]:
    """A step that is statements only: the file `name` beside this module."""

    def run(conn: apsw.Connection) -> None:
        sql = resources.files(__package__) / name
        connect.run(conn, sql.read_text(encoding="utf-8"))

    return run


MIGRATIONS: tuple[Migration, ...] = (
    Migration(1, _first),
    Migration(2, _places),
    Migration(3, _corrections),
    Migration(4, _tool_use_ids),
    Migration(5, _script("personal.sql")),
    Migration(6, _script("regroup.sql")),
    Migration(7, _script("said.sql")),
    Migration(8, _script("staleness.sql")),
    Migration(9, _script("alike.sql")),
    Migration(10, _script("work_lists.sql")),
)
VERSION = MIGRATIONS[-1].number
