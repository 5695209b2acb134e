"""How far the vectors have followed the change log."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import apsw
import attrs

from claude_mem_core.types import DocKind
from claude_mem_search_vector.texts import number_of

READER = "vector"


@attrs.define
class Place:
    """Up to where this process has followed; another one may have gone on."""

    _at: int | None = None
    _lock: threading.Lock = attrs.field(factory=threading.Lock)

    def passed(self, conn: apsw.Connection) -> bool:
        """Whether another process has followed further since this was last asked."""
        with self._lock:
            there, at = position(conn), self._at
            if there is None or (at is not None and there <= at):
                return False
            self._at = there
            return True

    def goes_on(self, to: int) -> None:
        """This process is about to write that it has followed so far."""
        with self._lock:
            self._at = to


def position(conn: apsw.Connection) -> int | None:
    """The last change that was followed; None before the first."""
    sql = "SELECT seq FROM change_readers WHERE name = ?"
    return _first(conn, sql, READER)


def set_position(conn: apsw.Connection, seq: int) -> None:
    """Everything up to `seq` was followed."""
    conn.execute("INSERT OR REPLACE INTO change_readers VALUES (?, ?)", (READER, seq))


def newest(conn: apsw.Connection) -> int:
    """The newest change that ever was."""
    return _first(conn, "SELECT seq FROM sqlite_sequence WHERE name = 'changes'") or 0


def missed(conn: apsw.Connection, since: int) -> bool:
    """Whether changes after `since` are no longer in the log."""
    oldest = _first(conn, "SELECT min(seq) FROM changes")
    return since + 1 < (newest(conn) + 1 if oldest is None else oldest)


def changes(conn: apsw.Connection, since: int, most: int) -> tuple[int, Sequence[int]]:
    """The position after the next changes, and the records that changed."""
    sql = "SELECT seq, kind, record_id FROM changes WHERE seq > ? ORDER BY seq LIMIT ?"
    rows: list[Any] = conn.execute(sql, (since, most)).fetchall()
    numbers = {number_of(DocKind(kind), record_id) for _, kind, record_id in rows}
    return (rows[-1][0] if rows else since), sorted(numbers)


def records(conn: apsw.Connection) -> int:
    """All records that can have a vector."""
    return _first(conn, "SELECT sum(n) FROM totals") or 0


def _first(conn: apsw.Connection, sql: str, *values: object) -> int | None:
    row = next(conn.execute(sql, values), None)
    return None if row is None or row[0] is None else int(row[0])
