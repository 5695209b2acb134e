"""Putting what was found into a fresh database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import apsw
import attrs

from claude_mem_core.store import counters, fetch
from claude_mem_core.store.salvage.found import Found, Named
from claude_mem_core.store.salvage.tables import Table
from claude_mem_core.types import Trust

# Facts of the file itself, which the fresh one knows better.
OWN_FACTS = ("shape", "index.")
TRUSTED = frozenset({"observations", "session_summaries", "events"})


@attrs.frozen
class Saved:
    """What became of one table.

    Attributes:
        lost: rows that are gone; None where nothing tells how many there were.
        at_most: `lost` is an upper bound: rows that had been deleted count as lost.
        remade: of these, rows that were made again from what other tables say.
    """

    table: str
    saved: int
    lost: int | None
    at_most: bool = False
    remade: int = 0

    def now(self, rows: int) -> Saved:
        """The same, once the table has been mended and holds `rows`."""
        remade = max(0, rows - self.saved)
        return attrs.evolve(self, saved=min(self.saved, rows), remade=remade)


def fill(conn: apsw.Connection, found: Found) -> list[Saved]:
    """Insert every row that can be read; foreign keys must be off."""
    for table in found.tables:
        _insert(conn, table, found.rows(table))
    known = {table.name: found.ids(table) for table in found.tables}
    for table in found.tables:
        _insert(conn, table, found.loose(table))
    _keep_numbers(conn, found.highest, known)
    counted = {**found.counted, "events": _accepted(conn)}
    return [
        _outcome(conn, t, known[t.name], counted.get(t.name, 0), found.highest.get(t.name, 0))
        for t in found.tables
    ]


def _insert(conn: apsw.Connection, table: Table, rows: Iterable[Named]) -> None:
    for row in _wanted(rows):
        given = _completed(table, row)
        conn.execute(_statement(table, tuple(given)), tuple(given.values()))


def _wanted(rows: Iterable[Named]) -> Iterator[Named]:
    for row in rows:
        if not str(row.get("k", "")).startswith(OWN_FACTS):
            yield row


def _completed(table: Table, row: Named) -> Named:
    """Without what is to have its default; what lost its trust class has the lowest."""
    needed = {column.name for column in table.stored if column.needed}
    given = {name: v for name, v in row.items() if v is not None or name not in needed}
    if table.name in TRUSTED:
        given.setdefault("trust", Trust.FOREIGN.value)
    return given


def _statement(table: Table, columns: tuple[str, ...]) -> str:
    """Names come from our own tables. A fresh file has some rows in `meta` already."""
    how = "REPLACE" if table.name == "meta" else "IGNORE"
    marks = ", ".join("?" * len(columns))
    return f"INSERT OR {how} INTO {table.name} ({', '.join(columns)}) VALUES ({marks})"


def _keep_numbers(
    conn: apsw.Connection, highest: dict[str, int], known: dict[str, set[int]]
) -> None:
    """An id that was given once, and may stand in somebody's notes, is not given again."""
    given: dict[str, int] = dict(fetch.rows(conn, "SELECT name, seq FROM sqlite_sequence"))
    for name in {*given, *(highest.keys() & known.keys())}:
        most = max([given.get(name, 0), highest.get(name, 0), *known.get(name, ())])
        conn.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
        conn.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, most))


def _accepted(conn: apsw.Connection) -> int:
    """How many events the damaged file had, by its own counters."""
    return counters.total(conn, "accepted") - counters.total(conn, "removed")


def _outcome(
    conn: apsw.Connection, table: Table, known: set[int], counted: int, highest: int
) -> Saved:
    """An index names every row it holds; some tables were counted; ids only go up."""
    saved = rows_of(conn, table.name)
    if table.number is None:
        return Saved(table.name, saved, None)
    if known or counted:
        here = {n for (n,) in fetch.rows(conn, f"SELECT {table.number} FROM {table.name}")}
        return Saved(table.name, saved, max(len(known - here), counted - saved, 0))
    if highest:
        return Saved(table.name, saved, max(highest - saved, 0), at_most=highest > saved)
    return Saved(table.name, saved, 0 if saved else None)


def rows_of(conn: apsw.Connection, table: str) -> int:
    """How many rows one of our tables has."""
    return int(fetch.value(conn, f"SELECT count(*) FROM {table}"))
