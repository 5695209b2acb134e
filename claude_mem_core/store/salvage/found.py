"""Everything that can be read of a damaged file: rows by table, and how many were lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from claude_mem_core.store.salvage import tables
from claude_mem_core.store.salvage.pages import Pages
from claude_mem_core.store.salvage.records import Values
from claude_mem_core.store.salvage.tables import MUTE, TELLING, Table
from claude_mem_core.store.salvage.trees import INDEX, TABLE, Row, Trees

Named = dict[str, Any]
COUNTED = {
    "observation": "observations", "summary": "session_summaries", "prompt": "user_prompts",
}  # fmt: skip


class Found:
    """The readable part of a damaged file. Reads only; walk `rows` of all tables first.

    Attributes:
        tables: those worth saving, with the columns that the file says they have.
        highest: the highest id that each table ever gave.
        counted: how many rows the file itself counted, of the tables it counts.
    """

    def __init__(self, path: Path) -> None:
        self._trees = Trees(Pages(path))
        self._schema = [row.values for row in self._trees.walk(1) if _is_entry(row)]
        texts = (entry[4] for entry in self._schema if entry[0] == "table" and entry[4])
        declared = tables.as_declared(texts)
        self.tables = [declared.get(table.name, table) for table in tables.ours()]
        self.highest = dict(self._highest())
        self.counted = dict(self._counted())
        self._loose: dict[str, list[Named]] | None = None

    @property
    def damaged_pages(self) -> int:
        """How many pages that something pointed to made no sense."""
        return len(self._trees.bad)

    def rows(self, table: Table) -> Iterator[Named]:
        """The rows below the table's root."""
        root = self._root("table", table.name)
        kinds = TABLE if table.number else INDEX
        for row in self._trees.walk(root, kinds, table.takes) if root else ():
            yield table.named(row)

    def ids(self, table: Table) -> set[int]:
        """Rowids that the table's indexes know of, whether or not the row can be read."""
        found: set[int] = set()
        for entry in self._schema:
            if entry[0] == "index" and entry[2] == table.name and entry[3]:
                rows = self._trees.walk(entry[3], INDEX)
                found.update(row.values[-1] for row in rows if _ends_with_rowid(row))
        return found if table.number else set()

    def loose(self, table: Table) -> list[Named]:
        """Rows of pages that nothing sound leads to, told by what they hold."""
        if self._loose is None:
            self._pass_over_the_rest()
            self._loose = self._sorted_out()
        return self._loose.get(table.name, [])

    def _highest(self) -> Iterator[tuple[str, int]]:
        for values in self._small("sqlite_sequence", TABLE):
            if len(values) == 2 and _is_id(values[1]):
                yield values[0], values[1]

    def _counted(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for values in self._small("totals", INDEX):
            if len(values) == 3 and values[0] in COUNTED and _is_id(values[2]):
                table = COUNTED[values[0]]
                found[table] = found.get(table, 0) + values[2]
        return found

    def _small(self, name: str, kinds: frozenset[int]) -> list[Values]:
        root = self._root("table", name)
        return [row.values for row in self._trees.walk(root, kinds)] if root else []

    def _root(self, kind: str, name: str) -> int:
        entries = (e for e in self._schema if e[0] == kind and e[1] == name)
        return next((entry[3] for entry in entries), 0)

    def _pass_over_the_rest(self) -> None:
        """Walk what is not ours to save, so that it is not taken for lost rows."""
        for entry in self._schema:
            if entry[3]:
                for _ in self._trees.walk(entry[3], TABLE | INDEX):
                    pass

    def _sorted_out(self) -> dict[str, list[Named]]:
        found: dict[str, list[Named]] = {}
        for _, rows in self._trees.orphans():
            table = self._owner(rows)
            if table is not None:
                found.setdefault(table.name, []).extend(map(table.named, rows))
        return found

    def _owner(self, rows: list[Row]) -> Table | None:
        """The one table that all records of a page fit into."""
        known = (t for t in self.tables if t.name not in MUTE)
        can_be = [t for t in known if t.number or t.name in TELLING]
        fitting = [t for t in can_be if rows and all(map(t.fits, rows))]
        return fitting[0] if len(fitting) == 1 else None


def _is_entry(row: Row) -> bool:
    values = row.values
    kinds = (str, str, str, int)
    return len(values) == 5 and all(map(isinstance, values, kinds))


def _ends_with_rowid(row: Row) -> bool:
    return len(row.values) > 1 and _is_id(row.values[-1])


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and 0 < value < 1 << 62
