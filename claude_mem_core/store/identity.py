"""Whose file is it? Answered before anything of it is written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import apsw
import attrs

from claude_mem_core.errors import StoreDamaged, StoreError, StoreForeign
from claude_mem_core.store import connect

APPLICATION_ID = int.from_bytes(b"CMem")
MAGIC = b"SQLite format 3\0"
HEADER = 100

EMPTY = (
    "the database {path} is empty: its content was lost; run `mem db repair`"
    " (it looks for snapshots and starts a new file)"
)
NO_DATABASE = (
    "{path} is damaged: it does not begin like a database; run `mem db repair`,"
    " which keeps the damaged file"
)
FOREIGN = (
    "{path} belongs to another program and is left as it is; move it away, or if it is"
    " claude-mem's: `mem import claude-mem {path}`"
)
NEWER = (
    "{path} was written by a newer version (schema {found}, known here {known}) and is"
    " left as it is; run `mem update`, or move the file away"
)


@attrs.frozen
class Identity:
    """What the file says of itself."""

    application: int
    version: int


def check(path: Path, known: int) -> Identity:
    """Refuse a file that is not ours or newer than `known`, without writing to it.

    Raises:
        StoreForeign: another program's file, or one of a newer version.
        StoreDamaged: not a database any more.
        StoreError: no regular file, or not readable.
    """
    _regular(path)
    if connect.is_open(path):
        found = _of_open(path)
        _refuse(path, found, known)
        return found
    found = _of_header(path)
    _refuse(path, found, known)
    if _wal_size(path):
        found = _of_database(path)
        _refuse(path, found, known)
    return found


def _regular(path: Path) -> None:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        raise StoreError(f"{path} is a link; put the file itself there, then `mem start`")
    if not stat.S_ISREG(mode):
        raise StoreError(f"{path} is no file; move it away, then `mem start`")


def _of_open(path: Path) -> Identity:
    """As `_of_header`, by SQLite, which keeps the locks."""
    if not path.stat().st_size:
        raise StoreDamaged(EMPTY.format(path=path))
    try:
        return _of_database(path)
    except (apsw.NotADBError, apsw.CorruptError):
        raise StoreDamaged(NO_DATABASE.format(path=path)) from None


def _of_header(path: Path) -> Identity:
    try:
        with open(path, "rb") as file:
            head = file.read(HEADER)
    except OSError as error:
        raise StoreError(f"can't read {path} ({error.strerror}); check its rights") from error
    if not head:
        raise StoreDamaged(EMPTY.format(path=path))
    if len(head) < HEADER or not head.startswith(MAGIC):
        raise StoreDamaged(NO_DATABASE.format(path=path))
    return Identity(
        application=int.from_bytes(head[68:72]), version=int.from_bytes(head[60:64])
    )


def _of_database(path: Path) -> Identity:
    """What the last committed state says: it may still be in the write-ahead log."""
    conn = connect.connection(path, apsw.SQLITE_OPEN_READONLY)
    try:
        conn.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        return Identity(
            application=int(conn.pragma("application_id")),
            version=int(conn.pragma("user_version")),
        )
    finally:
        conn.close()


def _refuse(path: Path, found: Identity, known: int) -> None:
    if found.application != APPLICATION_ID:
        raise StoreForeign(FOREIGN.format(path=path))
    if found.version > known:
        raise StoreForeign(NEWER.format(path=path, found=found.version, known=known))


def _wal_size(path: Path) -> int:
    try:
        return os.lstat(f"{path}-wal").st_size
    except OSError:
        return 0
