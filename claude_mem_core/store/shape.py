"""Are all our tables, columns, indexes and triggers still there?

Asked at every start, so it must be cheap: one hash over the schema, remembered when it
was last found right. Only when it differs is the schema compared in full. Lost indexes,
triggers and views are made again; a lost table or column is damage.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import apsw
import attrs

from claude_mem_core.errors import StoreDamaged
from claude_mem_core.store import connect, fetch, meta, migrations

SCHEMA = """
  SELECT type, name, sql FROM sqlite_schema
  WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name
"""
COLUMNS = "SELECT name FROM pragma_table_xinfo(?)"
# The word index with its inner tables: recall makes it anew from the other tables.
INDEX = ("memory_index", "memory_words")
KEY = "shape"


@attrs.frozen
class Part:
    """One entry of the schema."""

    type: str
    name: str
    sql: str | None


def check(conn: apsw.Connection) -> list[str]:
    """Mend what can be made again; return the names of it.

    Raises:
        StoreDamaged: a table or a column is gone.
    """
    if _remembered(conn) == digest(conn):
        return []
    with connect.transaction(conn):
        mended = _mended(conn)
        meta.put(conn, KEY, digest(conn))
    return mended


def _remembered(conn: apsw.Connection) -> str | None:
    try:
        return meta.get(conn, KEY)
    except apsw.SQLError:  # that table itself is gone
        return None


def digest(conn: apsw.Connection) -> str:
    """Hash of the whole schema."""
    return hashlib.sha256(repr(fetch.rows(conn, SCHEMA)).encode()).hexdigest()


def _mended(conn: apsw.Connection) -> list[str]:
    gone = lost(conn)
    for part in gone:
        conn.execute(str(part.sql))
    return [part.name for part in gone]


def lost(conn: apsw.Connection) -> list[Part]:
    """Indexes, triggers and views that are not there; nothing is written.

    Raises:
        StoreDamaged: a table or a column is gone.
    """
    whole = _whole()
    try:
        here = {(part.type, part.name) for part in _parts(conn)}
        wanted = [part for part in _parts(whole) if not part.name.startswith(INDEX)]
        _look_at_tables(conn, whole, [part.name for part in wanted if part.type == "table"])
        return [part for part in wanted if (part.type, part.name) not in here and part.sql]
    finally:
        whole.close()


def _look_at_tables(
    conn: apsw.Connection, whole: apsw.Connection, tables: Iterable[str]
) -> None:
    for table in tables:
        here = _columns(conn, table)
        missing = _columns(whole, table) - here
        if missing:
            lost = f"its columns {', '.join(sorted(missing))}" if here else "itself"
            raise StoreDamaged(
                f"the database {conn.filename} is damaged: table {table} has lost {lost};"
                " stop the worker and run `mem db repair`"
            )


def _columns(conn: apsw.Connection, table: str) -> set[str]:
    return {row[0] for row in fetch.rows(conn, COLUMNS, table)}


def _parts(conn: apsw.Connection) -> list[Part]:
    return [Part(*row) for row in fetch.rows(conn, SCHEMA)]


def _whole() -> apsw.Connection:
    """An empty database of the present layout, in memory."""
    conn = apsw.Connection(":memory:")
    migrations.migrate(conn, Path("memory.db"), 0)
    return conn
