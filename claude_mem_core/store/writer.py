"""The one thread that writes. Many small writes share one commit, and so one fsync.

Each function runs in a savepoint of its own: one that fails takes nothing with it. When
the whole transaction is lost (a full disk), every function runs once more, alone, so
that each caller gets its own answer. So a function may run twice; it must do nothing
but use its connection.

A lone write is done on the thread of its caller while the writer has nothing to do: two
changes of thread cost a host more waiting than the statements do (`at_once`).
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw

from claude_mem_core.errors import StoreError
from claude_mem_core.store.faults import BREAKING, fault
from claude_mem_core.store.jobs import Job, Outcome, settle, tell

BATCH = 256  # functions that share a commit
WAITING = 10_000  # functions that may wait before new ones are refused
SLOW_S = 0.01  # a disk that takes longer would hold up the event loop
MERGE_PAGES = 1000  # of the log; merging them into the file takes many milliseconds
REST_S = 30.0  # for so long after a slow write everything goes to the thread


class BatchLost(Exception):
    """The transaction is gone with everything that ran in it."""


class Writer:
    """Owns the writing connection.

    `open_` makes it, and again when it broke or when another file has taken the name. In
    the latter case `let_go` is called first, so that nobody else holds the old file open.
    """

    def __init__(
        self, path: Path, open_: Callable[[], apsw.Connection], let_go: Callable[[], None]
    ) -> None:
        self._path = path
        self._open = open_
        self._let_go = let_go
        self._pages = 0  # in the log
        self._conn: apsw.Connection | None = self._opened()
        self._file, self._log = _which(path), _which(log_of(path))
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._closing = False
        self._lock = threading.Lock()
        self._turn = threading.Lock()  # whoever holds it may use the connection
        self._rests_until = 0.0
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def put(self, job: Job) -> None:
        """Queue a function.

        Raises:
            StoreError: the store is closed, or too many are waiting.
        """
        with self._lock:
            if self._closing:
                raise StoreError(f"the store {self._path} is closed; run `mem start`")
            if self._jobs.qsize() >= WAITING:
                raise StoreError(f"{self._path} is too slow for what is to be written; retry")
            self._jobs.put(job)

    def at_once(self, job: Job) -> bool:
        """Do a lone job here and now; False when the thread has to do it."""
        begun = time.monotonic()
        if begun < self._rests_until or self._pages >= MERGE_PAGES or not self._turn.acquire(blocking=False):
            return False
        try:
            if self._closing or not self._jobs.empty():
                return False
            outcome = self._outcomes([job])[0]
        finally:
            self._turn.release()
        if time.monotonic() - begun > SLOW_S:
            self._rests_until = begun + REST_S
        tell(job, outcome)
        return True

    def close(self) -> None:
        """Write what is queued, then close the connection."""
        with self._lock:
            if not self._closing:
                self._closing = True
                self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        open_ = True
        while open_:
            batch, open_ = self._take()
            if batch:
                with self._turn:
                    outcomes = self._outcomes(batch)
                settle(batch, outcomes)
                self._merge_when_due()
        with self._turn:
            self._drop()

    def _take(self) -> tuple[list[Job], bool]:
        """The next functions to commit together, and whether to go on after them."""
        batch: list[Job] = []
        job = self._jobs.get()
        while job is not None:
            batch.append(job)
            if len(batch) == BATCH:
                return batch, True
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return batch, True
        return batch, False

    def _outcomes(self, batch: Sequence[Job]) -> list[Outcome]:
        try:
            conn = self._begun()
        except (apsw.Error, OSError, StoreError) as error:
            self._roll_back()
            return [Outcome(error=self._worded(error))] * len(batch)
        try:
            return self._transaction(conn, batch)
        except BatchLost as lost:
            if len(batch) > 1:
                return [self._outcomes([job])[0] for job in batch]
            return [Outcome(error=self._worded(lost.__cause__ or lost))]

    def _begun(self) -> apsw.Connection:
        """The connection, in a transaction; opened again if need be."""
        if self._conn is not None and _which(self._path) != self._file:
            self._leave()
        if self._conn is None:
            self._conn = self._opened()
            self._file, self._log = _which(self._path), _which(log_of(self._path))
        self._conn.execute("BEGIN IMMEDIATE")
        return self._conn

    def _opened(self) -> apsw.Connection:
        """A new connection; its log is merged by us, once its writers have their answers."""
        conn = self._open()
        conn.set_wal_hook(self._count_pages)
        return conn

    def _count_pages(self, _conn: apsw.Connection, _name: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    def _merge_when_due(self) -> None:
        if self._pages >= MERGE_PAGES and self._conn is not None:
            with self._turn:
                self._pages = 0
                self._merged()

    def _leave(self) -> None:
        """Let go of a file that lost its name, its log merged into it.

        SQLite leaves the log of such a file lying there, for the next file to take it for
        its own. So it goes, unless something in it could not be merged.
        """
        self._let_go()
        merged = self._merged()
        self._drop()
        if _which(log_of(self._path)) == self._log:
            put_aside(self._path, worthless=merged)

    def _merged(self) -> bool:
        """Merge the log into the file; whether all of it was."""
        try:
            assert self._conn is not None
            pages, done = self._conn.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except apsw.Error:
            return False
        return pages == done

    def _transaction(self, conn: apsw.Connection, batch: Sequence[Job]) -> list[Outcome]:
        try:
            outcomes = [self._one(conn, job) for job in batch]
            conn.execute("COMMIT")
        except apsw.Error as error:
            self._roll_back()
            raise BatchLost from error
        return outcomes

    def _one(self, conn: apsw.Connection, job: Job) -> Outcome:
        conn.execute("SAVEPOINT job")
        try:
            value = job.fn(conn)
        except BREAKING:
            raise
        except BaseException as error:
            if not conn.in_transaction:
                raise BatchLost from error
            conn.execute("ROLLBACK TO job")
            conn.execute("RELEASE job")
            return Outcome(error=self._worded(error))
        conn.execute("RELEASE job")
        return Outcome(value)

    def _roll_back(self) -> None:
        """Leave the connection clean; one that can't even roll back is made anew."""
        conn = self._conn
        if conn is None:
            return
        try:
            if conn.in_transaction:
                conn.execute("ROLLBACK")
        except apsw.Error:
            self._drop()

    def _drop(self) -> None:
        conn, self._conn = self._conn, None
        if conn is not None:
            conn.close(True)

    def _worded(self, error: BaseException) -> BaseException:
        if isinstance(error, apsw.Error | OSError):
            return fault(error, self._path)
        return error


def log_of(path: Path) -> Path:
    """The write-ahead log of the database at `path`."""
    return path.with_name(f"{path.name}-wal")


def put_aside(path: Path, *, worthless: bool = False) -> None:
    """Rename a log that is without its database: the next one would take it for its own."""
    log = log_of(path)
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    if worthless:
        log.unlink(missing_ok=True)
    elif os.path.lexists(log):
        os.replace(log, log.with_name(f"{log.name}.{time.time_ns()}.left"))


def _which(path: Path) -> tuple[int, int]:
    """Which file has the name now."""
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0)
    return (found.st_dev, found.st_ino)
