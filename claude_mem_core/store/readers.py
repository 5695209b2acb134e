"""Connections that read, a few of them, each lent to one function at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import apsw

from claude_mem_core.errors import StoreError
from claude_mem_core.store import connect
from claude_mem_core.store.faults import fault

T = TypeVar("T")
MOST = 3  # connections at once; each may hold 2 MB of pages


class Readers:
    """Lends connections that see one state of the database for one function."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._free: list[apsw.Connection] = []
        self._slots = threading.BoundedSemaphore(MOST)
        self._lock = threading.Lock()
        self._closed = False
        self._round = 0

    def run(self, fn: Callable[[apsw.Connection], T]) -> T:
        """Run `fn` on a connection.

        Raises:
            StoreError: the file can't be read; whatever `fn` raises comes through.
        """
        with self._slots, self._lent() as conn:
            conn.execute("BEGIN")
            try:
                return fn(conn)
            finally:
                if conn.in_transaction:
                    conn.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connections that nobody uses; the others when they come back."""
        self._closed = True
        self.forget()

    def forget(self) -> None:
        """Close what is open: another file has the name now."""
        with self._lock:
            self._round += 1
            free, self._free = self._free, []
        for conn in free:
            conn.close(True)

    @contextmanager
    def _lent(self) -> Iterator[apsw.Connection]:
        conn: apsw.Connection | None = None
        started = self._round
        try:
            conn = self._take()
            yield conn
        except apsw.Error as error:
            if conn is not None:
                conn.close(True)
                conn = None
            raise fault(error, self._path) from error
        finally:
            if conn is not None:
                self._give_back(conn, started)

    def _take(self) -> apsw.Connection:
        with self._lock:
            if self._closed:
                raise StoreError(f"the store {self._path} is closed; run `mem start`")
            if self._free:
                return self._free.pop()
        return connect.reader(self._path)

    def _give_back(self, conn: apsw.Connection, started: int) -> None:
        with self._lock:
            if not self._closed and started == self._round:
                self._free.append(conn)
                return
        conn.close(True)
