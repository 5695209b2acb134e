"""Rows that wait to be written: in a file that has no name and goes with its handle.

It holds cleaned text only, and however many rows there are, little of it is in memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import apsw
import attrs

from claude_mem_core.store import fetch, text
from claude_mem_core.store.imports.own import Own
from claude_mem_core.store.imports.records import Incoming, Kind, Origin

STEP = 500


class Staged:
    """Rows by kind, in the order in which they came; read as often as need be.

    Attributes:
        passed_over: rows of each kind of which nothing was left to keep.
        left_out: what is not taken, by its name: tables that hold nothing to remember.
        own: what people said of memories and projects, if it is to be taken.
    """

    def __init__(self) -> None:
        self._conn = apsw.Connection("")
        self._conn.execute("CREATE TABLE staged (kind TEXT, body TEXT); BEGIN")
        self.passed_over: dict[Kind, int] = {}
        self.left_out: dict[str, int] = {}
        self.own = Own()

    def add(self, kind: Kind, row: Incoming) -> None:
        """Put one row at the end."""
        values = (kind.value, text.dumps(attrs.asdict(row)))
        self._conn.execute("INSERT INTO staged VALUES (?, ?)", values)

    def pass_over(self, kind: Kind) -> None:
        """Count a row of which nothing was left."""
        self.passed_over[kind] = self.passed_over.get(kind, 0) + 1

    def rows(self, kind: Kind) -> Iterator[Incoming]:
        """The rows of one kind."""
        sql = "SELECT rowid, body FROM staged WHERE kind = ? AND rowid > ? ORDER BY rowid LIMIT ?"
        last = 0
        while some := fetch.rows(self._conn, sql, kind.value, last, STEP):
            yield from (_row(json.loads(body)) for _, body in some)
            last = some[-1][0]

    def discard(self, kind: Kind, is_unwanted: Callable[[Incoming], bool]) -> int:
        """Take out the rows of one kind that are not to come in; how many."""
        sql = "SELECT rowid, body FROM staged WHERE kind = ? AND rowid > ? ORDER BY rowid LIMIT ?"
        last = count = 0
        while some := fetch.rows(self._conn, sql, kind.value, last, STEP):
            gone = [(n,) for n, body in some if is_unwanted(_row(json.loads(body)))]
            self._conn.executemany("DELETE FROM staged WHERE rowid = ?", gone)
            count += len(gone)
            last = some[-1][0]
        return count

    def count(self, kind: Kind) -> int:
        """How many rows of one kind there are."""
        sql = "SELECT count(*) FROM staged WHERE kind = ?"
        return int(fetch.value(self._conn, sql, kind.value))

    def close(self) -> None:
        """Forget everything."""
        self._conn.close(True)


def _row(body: dict[str, object]) -> Incoming:
    origin, lists = body.pop("origin"), body.pop("lists")
    assert isinstance(origin, dict)
    assert isinstance(lists, dict)
    tuples = {name: tuple(entries) for name, entries in lists.items()}
    return Incoming(origin=Origin(**origin), lists=tuples, **body)  # type: ignore[arg-type]
