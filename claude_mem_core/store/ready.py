"""Making a database ready: made if there is none, checked, private, brought up to date."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import apsw

from claude_mem_core.store import connect, identity, migrations, shape
from claude_mem_core.store.salvage.pages import WAL_HEADER, is_log
from claude_mem_core.store.writer import log_of, put_aside


def ready(path: Path) -> apsw.Connection:
    """The writing connection of a file that is ours and up to date.

    Raises:
        StoreForeign, StoreDamaged, StoreError: it can't be used; the text says why.
        apsw.Error, OSError: as the system says it.
    """
    if not os.path.lexists(path):
        create(path)
    identity.check(path, migrations.VERSION)
    _keep_odd_log(path)
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
    """Make a new database under another name and give it its own when it is complete.

    So nobody ever sees half of one, and an empty file is always a damaged one.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone(path.parent):
        if os.path.lexists(path):
            return
        put_aside(path)
        for left in path.parent.glob(f"{path.name}.*.new*"):
            left.unlink()
        partial = path.with_name(f"{path.name}.{time.time_ns()}.new")
        try:
            _fill(partial)
            _publish(partial, path)
        finally:
            for left in path.parent.glob(f"{partial.name}*"):
                left.unlink()


def _fill(partial: Path) -> None:
    connect.touch(partial)
    conn = connect.writer(partial)
    try:
        migrations.migrate(conn, partial, _now_ms())
        shape.check(conn)
        # Closing merges the log as well, but says nothing when a full disk forbids it, and
        # the file would get its name without its content.
        connect.run(conn, "PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        conn.close(True)


def _publish(partial: Path, path: Path) -> None:
    """Give the file its name; never replace anything."""
    try:
        os.link(partial, path)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        if not os.path.lexists(path):
            os.rename(partial, path)
    _sync(path.parent)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process at a time, for as long as creating takes."""
    if os.name == "nt":
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _sync(folder: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _keep_odd_log(path: Path) -> None:
    """Copy a log that SQLite can't read: it would be written over, and it may be evidence.

    Copied, not moved: another process might just be beginning a new one.
    """
    try:
        with open(log_of(path), "rb") as file:
            head = file.read(WAL_HEADER)
            if any(head) and not is_log(head):
                _copy(file, log_of(path))
    except FileNotFoundError:
        return


def _copy(file: BinaryIO, log: Path) -> None:
    """Once for each such log, however often it is opened."""
    target = log.with_name(f"{log.name}.{os.fstat(file.fileno()).st_mtime_ns}.left")
    if target.exists():
        return
    file.seek(0)
    connect.touch(target)
    with open(target, "wb") as copy:
        shutil.copyfileobj(file, copy)


def _private(path: Path) -> None:
    """Take away the rights of others; the journal files get the same as the database."""
    for name in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        if name.exists() and name.stat().st_mode & 0o077:
            name.chmod(0o600)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
