"""How many records hold a word: counted up to a bound, estimated above, remembered."""

from __future__ import annotations

import threading

import apsw

from claude_mem_core.recall.documents import KIND_BITS
from claude_mem_core.recall.lengths import varints
from claude_mem_core.store import fetch

COUNTED = 20_000  # postings that are counted; above, the first ones are extrapolated
_REMEMBERED = 4_096
_STALE = 1.1  # growth of the store after which counts are taken anew

_SQL = """
  SELECT count(*), max(rowid) FROM
    (SELECT rowid FROM memory_index WHERE memory_index MATCH ? LIMIT ?)
"""


class Counts:
    """Counts of words in the index, kept while the index is about as large."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._at = 0
        self._lock = threading.Lock()

    def of(self, conn: apsw.Connection, match: str) -> int:
        """About how many records match `match`."""
        total = records(conn)
        with self._lock:
            if len(self._known) > _REMEMBERED or not self._at <= total <= self._at * _STALE:
                self._known.clear()
                self._at = total
            known = self._known.get(match)
        if known is None:
            known = _count(conn, match, total)
            with self._lock:
                self._known[match] = known
        return known


def records(conn: apsw.Connection) -> int:
    """Records in the index, from its own statistics."""
    block = fetch.value(conn, "SELECT block FROM memory_index_data WHERE id = 1") or b""
    return next(iter(varints(block)), 0)


def _count(conn: apsw.Connection, match: str, total: int) -> int:
    number, last = fetch.rows(conn, _SQL, match, COUNTED)[0]
    if number < COUNTED or last >> KIND_BITS:
        return int(number)
    newest = fetch.value(conn, "SELECT max(id) FROM observations") or 1
    return int(min(total, number * max(1.0, newest / max(1, last))))
