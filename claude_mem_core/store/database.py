"""The store as the rest of the program sees it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import apsw

from claude_mem_core.store import connect, identity, migrations, readers, shape
from claude_mem_core.store.faults import fault
from claude_mem_core.store.writer import Job, Writer, put_aside

T = TypeVar("T")
Fn = Callable[[apsw.Connection], T]


class Store:
    """One database file: one writer thread, a few readers.

    A write has happened, on the disk, when its future has a result. A function given to
    `write` may run twice (see `writer`); one given to `read` sees one state throughout.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._readers = readers.Readers(path)
        self._writer = Writer(path, lambda: ready(path), self._readers.forget)
        self._threads = ThreadPoolExecutor(readers.MOST, thread_name_prefix="store-reader")

    @classmethod
    def open(cls, path: Path) -> Store:
        """Open the database at `path`; make it when there is none; bring it up to date.

        Raises:
            StoreForeign: another program's file, or one of a newer version.
            StoreDamaged: `mem db repair` is needed.
            StoreError: it can't be opened; the text says why.
        """
        try:
            return cls(path)
        except (apsw.Error, OSError) as error:
            raise fault(error, path) from error

    def write(self, fn: Fn[T]) -> Future[T]:
        """Queue `fn` for the writer; errors come out of the future.

        What `fn` returns leaves the writer's thread, so it can't be a cursor.

        Raises:
            StoreError: the store is closed, or too many writes are waiting.
        """
        future: Future[T] = Future()
        self._writer.put(Job(fn, future))
        return future

    async def awrite(self, fn: Fn[T]) -> T:
        """Run `fn` on the writer and wait until it is on the disk.

        Raises:
            StoreError: it could not be written; whatever `fn` raises comes through.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._writer.put(Job(fn, future, loop))
        return await future

    def read(self, fn: Fn[T]) -> T:
        """Run `fn` on a reading connection, in this thread."""
        return self._readers.run(fn)

    async def aread(self, fn: Fn[T]) -> T:
        """Run `fn` on a reading connection, off the event loop."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._readers.run, fn)

    def close(self) -> None:
        """Write what is queued and close the file. Safe to call twice."""
        self._threads.shutdown(wait=True)
        self._readers.close()
        self._writer.close()


def ready(path: Path) -> apsw.Connection:
    """The writing connection of a file that is ours and up to date."""
    if not os.path.lexists(path):
        put_aside(path)
        create(path)
    identity.check(path, migrations.VERSION)
    _private(path)
    conn = connect.writer(path)
    try:
        migrations.migrate(conn, path, _now_ms())
        shape.check(conn)
    except BaseException:
        conn.close(True)
        raise
    return conn


def create(path: Path) -> None:
    """Make a new database under another name and give it its own when it is complete."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}-{time.monotonic_ns()}.new")
    connect.touch(partial)
    try:
        conn = connect.writer(partial)
        migrations.migrate(conn, partial, _now_ms())
        shape.check(conn)
        conn.close()
        _publish(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _publish(partial: Path, path: Path) -> None:
    """Give the file its name unless somebody else was first; never replace anything."""
    try:
        os.link(partial, path)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        if not os.path.lexists(path):
            os.rename(partial, path)
    _sync(path.parent)


def _sync(folder: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _private(path: Path) -> None:
    """Take away the rights of others; the journal files get the same as the database."""
    for name in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        if name.exists() and name.stat().st_mode & 0o077:
            name.chmod(0o600)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
