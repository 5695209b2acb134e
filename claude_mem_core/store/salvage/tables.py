"""What our tables look like, so that found records can be told apart and named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import apsw
import attrs

from claude_mem_core.store import fetch, migrations
from claude_mem_core.store.salvage.records import Values
from claude_mem_core.store.salvage.trees import Row

# Made anew from the others, or by the triggers of the new file.
DERIVED = frozenset({"changes", "change_readers", "totals", "schema_versions"})
INFO = 'SELECT name, type, "notnull", pk FROM pragma_table_xinfo(?) ORDER BY cid'
LIST = "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"

# Numbers alone: the records of many an index look the same, so loose ones are not taken.
# What is lost is what was looked at, what was promoted, and what was called useful.
MUTE = frozenset({"work_checks", "personal", "feedback"})
# Records of these may lie in pages that look like those of an index: their values tell.
TELLING: Mapping[str, Callable[[Values], bool]] = {
    "evidence": lambda values: values[0] in {"observation", "summary"},
    "memory_files": lambda values: values[0] in {"observation", "summary"},
    "deliveries": lambda values: values[0][:20].isdigit() and values[0][20:21] == "-",
}


@attrs.frozen
class Column:
    """A column: its name, whether it holds text or numbers, whether NULL is refused."""

    name: str
    type: str
    needed: bool


@attrs.frozen
class Table:
    """A table. `stored`: its columns in the order of a record's values.

    Attributes:
        number: the column that is the rowid itself; None in a table without rowids.
    """

    name: str
    stored: tuple[Column, ...]
    number: str | None

    def named(self, row: Row) -> dict[str, Any]:
        """The values of a record by their columns."""
        found = {c.name: v for c, v in zip(self.stored, row.values, strict=False)}
        return {**found, self.number: row.rowid} if self.number else found

    def takes(self, row: Row) -> bool:
        """Whether a record can stand in this table; older ones may have fewer columns."""
        pairs = zip(self.stored, row.values, strict=False)
        return len(row.values) <= len(self.stored) and all(
            self._takes(column, value) for column, value in pairs
        )

    def fits(self, row: Row) -> bool:
        """Whether a record of an unknown page can be one of ours."""
        if len(row.values) != len(self.stored) or not self.takes(row):
            return False
        return self.number is not None or TELLING[self.name](row.values)

    def _takes(self, column: Column, value: Any) -> bool:
        if value is None:
            return not column.needed or column.name == self.number
        return isinstance(value, int if column.type == "INTEGER" else str)


def ours() -> list[Table]:
    """The tables worth saving, parents first."""
    conn = apsw.Connection(":memory:")
    try:
        migrations.migrate(conn, Path("memory.db"), 0)
        order = fetch.rows(conn, "SELECT name FROM sqlite_schema ORDER BY rowid")
        described = described_by(conn)
    finally:
        conn.close()
    return [described[name] for (name,) in order if name in described]


def described_by(conn: apsw.Connection) -> dict[str, Table]:
    """Our tables as a database has them, by name."""
    found = {}
    for name, without_rowid in fetch.rows(conn, LIST):
        if name not in DERIVED and not name.startswith(("sqlite_", "memory_words")):
            found[name] = _described(conn, name, bool(without_rowid))
    return found


def _described(conn: apsw.Connection, name: str, without_rowid: bool) -> Table:
    rows = fetch.rows(conn, INFO, name)
    columns = [Column(c, kind, bool(needed)) for c, kind, needed, _ in rows]
    if not without_rowid:
        alias = [c for c, kind, _, pk in rows if pk and kind == "INTEGER"]
        return Table(name, tuple(columns), alias[0] if alias else None)
    ranks = [pk or len(rows) + 1 for _, _, _, pk in rows]
    order = sorted(range(len(rows)), key=ranks.__getitem__)
    return Table(name, tuple(columns[i] for i in order), None)


def as_declared(statements: Iterator[str]) -> dict[str, Table]:
    """Our tables as the damaged file itself declares them, as far as that can be read."""
    known = {table.name for table in ours()}
    conn = apsw.Connection(":memory:")
    try:
        for sql in statements:
            _declare(conn, sql)
        return {n: t for n, t in described_by(conn).items() if n in known}
    finally:
        conn.close()


def _declare(conn: apsw.Connection, sql: str) -> None:
    if not sql.startswith("CREATE TABLE "):
        return
    try:
        conn.execute(sql)
    except apsw.Error:  # a statement that the damage has hit
        return
