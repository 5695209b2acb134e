"""Connections: how every one of them is set up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from weakref import WeakKeyDictionary

import apsw

# The file is ours alone, so SQL inside it is not trusted to call anything of ours.
CONFIG = (
    (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
    (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
    (apsw.SQLITE_DBCONFIG_DQS_DML, 0),
    (apsw.SQLITE_DBCONFIG_DQS_DDL, 0),
)
BUSY_MS = 5_000
COMMON = """
  PRAGMA foreign_keys = ON;
  PRAGMA temp_store = MEMORY;
  PRAGMA cell_size_check = ON;
  PRAGMA mmap_size = 0;
"""
# Deleted text is overwritten with zeros: what a user deletes must not stay on the disk.
WRITER = """
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA secure_delete = ON;
  PRAGMA journal_size_limit = 8388608;
  PRAGMA cache_size = -2048;
"""
READER = """
  PRAGMA query_only = ON;
  PRAGMA cache_size = -2048;
"""


_LOCK = Lock()
_OPENED: WeakKeyDictionary[apsw.Connection, str] = WeakKeyDictionary()


def is_open(path: Path) -> bool:
    """Whether this process has, or just had, a connection to it.

    Then nobody here may open it as a file: closing that would drop the locks of all its
    connections, and another process that closes its own would take the write-ahead log
    away from under them.
    """
    real = str(path.parent.resolve() / path.name)
    with _LOCK:
        return real in _OPENED.values()


def writer(path: Path) -> apsw.Connection:
    """The one connection that writes; the file has to exist.

    Raises:
        apsw.Error: as SQLite says it; `faults.fault` words it.
    """
    conn = connection(path, apsw.SQLITE_OPEN_READWRITE)
    run(conn, WRITER)
    return conn


def reader(path: Path) -> apsw.Connection:
    """A connection that can't write."""
    conn = connection(path, apsw.SQLITE_OPEN_READONLY)
    run(conn, READER)
    return conn


def touch(path: Path) -> None:
    """Make an empty file for a database that nobody else may read.

    Raises:
        FileExistsError: the name is taken, if only by a link.
    """
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
    os.close(os.open(path, flags, 0o600))


def run(conn: apsw.Connection, script: str) -> None:
    """Run every statement of a script: `execute` alone stops at the first row of answer."""
    conn.execute(script).fetchall()


@contextmanager
def transaction(conn: apsw.Connection) -> Iterator[None]:
    """All of it or nothing; waits for another writer before it reads anything."""
    conn.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        conn.execute("ROLLBACK")
        raise
    conn.execute("COMMIT")


def connection(path: Path, flags: int) -> apsw.Connection:
    """A connection with what all of them have. A link as the file's name is refused."""
    real = path.parent.resolve() / path.name
    conn = apsw.Connection(str(real), flags=flags | apsw.SQLITE_OPEN_NOFOLLOW)
    with _LOCK:
        _OPENED[conn] = str(real)
    for option, value in CONFIG:
        conn.config(option, value)
    conn.set_busy_timeout(BUSY_MS)
    run(conn, COMMON)
    return conn
