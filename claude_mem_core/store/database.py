"""The store as the rest of the program sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import apsw

from claude_mem_core.store import readers
from claude_mem_core.store.faults import fault
from claude_mem_core.store.gather import Gathering
from claude_mem_core.store.jobs import Job
from claude_mem_core.store.ready import ready
from claude_mem_core.store.writer import Writer

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
        self._gathering = Gathering(self._writer.put)
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

    async def awrite(self, fn: Fn[T], *, alone: bool = False) -> T:
        """Run `fn` on the writer and wait until it is on the disk.

        With `alone` nothing else waits just now: a short `fn` may run at once, on this
        thread, if the writer has nothing to do.

        Raises:
            StoreError: it could not be written; whatever `fn` raises comes through.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        job = Job(fn, future, loop)
        if not (alone and self._writer.at_once(job)):
            self._gathering.add(job, loop)
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
