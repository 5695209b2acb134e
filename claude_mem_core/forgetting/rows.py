"""Erasing in one database file that nobody else has open: a snapshot, an older copy."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import apsw

from claude_mem_core.recall import feed
from claude_mem_core.store import connect, erase, fetch, identity, migrations
from claude_mem_core.store.erase import Chosen


def touches(path: Path, chosen: Chosen) -> bool:
    """Whether a copy holds rows that are to go.

    Raises:
        apsw.Error, StoreError: it can't be read.
    """
    identity.check(path, migrations.VERSION)
    conn = connect.reader(path)
    try:
        return bool(erase.count(conn, chosen))
    finally:
        conn.close(True)


Work = Callable[[apsw.Connection], None]


def rewrite(path: Path, chosen: Chosen) -> None:
    """Put a copy without these rows in the place of the file; errors as `worked_over`."""
    now = time.time_ns() // 1_000_000
    worked_over(path, lambda conn: _until_nothing(conn, lambda: bool(erase.some(conn, chosen, now))))


def worked_over(path: Path, work: Work) -> None:
    """Put a copy in the place of the file, on which `work` was done; no gap in it is left.

    One of an older layout is brought up to date on the way.

    Raises:
        apsw.Error, OSError, StoreError: it could not be done; the file is as it was.
    """
    partial = path.with_name(f"{path.name}.part")
    _remove(partial)
    connect.touch(partial)
    try:
        _copied(path, partial)
        _worked(partial, work)
        os.replace(partial, path)
    finally:
        _remove(partial)


def _copied(path: Path, partial: Path) -> None:
    source = connect.connection(path, apsw.SQLITE_OPEN_READONLY)
    copy = apsw.Connection(str(partial), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        with copy.backup("main", source, "main") as backup:
            backup.step(-1)
    finally:
        copy.close()
        source.close()


def _worked(partial: Path, work: Work) -> None:
    conn = connect.writer(partial)
    try:
        migrations.bring_up(conn, time.time_ns() // 1_000_000)
        work(conn)
        if not feed.ready(conn):
            feed.remake(conn)
        _until_nothing(conn, lambda: bool(feed.feed(conn, 1000)))
        with connect.transaction(conn):
            feed.tidy(conn)
        connect.run(conn, "VACUUM")
        fetch.rows(conn, "PRAGMA journal_mode = DELETE")
    finally:
        conn.close(True)


def _until_nothing(conn: apsw.Connection, step: Callable[[], bool]) -> None:
    """Repeat a step, each time in a transaction, until it has nothing left to do."""
    more = True
    while more:
        with connect.transaction(conn):
            more = step()


def _remove(partial: Path) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        partial.with_name(partial.name + end).unlink(missing_ok=True)
