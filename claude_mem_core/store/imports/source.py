"""Another program's database, opened as if somebody wanted to harm us with it.

It is copied first, and only the copy is opened: without locks, without its triggers and
views, with limits on what a statement may cost. The original is read as bytes, no more.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from claude_mem_core.errors import InvalidInput
from claude_mem_core.files import open_regular
from claude_mem_core.files.workfolder import work_folder
from claude_mem_core.store import fetch
from claude_mem_core.store.identity import APPLICATION_ID, MAGIC

LARGEST = 8 << 30  # bytes of a database that is read
LONGEST = 10_000_000  # bytes of one value or row
MOST_ROWS = 2_000_000  # of one table
COUNTED = 100_000
PATIENCE_S = 10.0  # for the work between two rows
LOOK_EVERY = 20_000  # steps of SQLite's machine
TRIES = 5  # a program that writes meanwhile would tear the copy

LIMITS = {
    apsw.SQLITE_LIMIT_LENGTH: LONGEST,
    apsw.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    apsw.SQLITE_LIMIT_COLUMN: 500,
    apsw.SQLITE_LIMIT_EXPR_DEPTH: 100,
    apsw.SQLITE_LIMIT_COMPOUND_SELECT: 10,
    apsw.SQLITE_LIMIT_VDBE_OP: 100_000,
    apsw.SQLITE_LIMIT_FUNCTION_ARG: 20,
    apsw.SQLITE_LIMIT_ATTACHED: 0,
    apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 100,
    apsw.SQLITE_LIMIT_VARIABLE_NUMBER: 20,
    apsw.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    apsw.SQLITE_LIMIT_WORKER_THREADS: 0,
}
DAMAGED = (
    "{path} is damaged; stop claude-mem, save what can be read with"
    " `sqlite3 {path} .recover | sqlite3 new.db`, then import new.db"
)
# Real tables only: views and virtual tables would run what the file says.
TABLES = """
  SELECT s.name FROM sqlite_schema s JOIN pragma_table_list l ON l.name = s.name
  WHERE s.type = 'table' AND l.type = 'table' AND l.schema = 'main'
"""
# Generated columns would run what the file says, too.
COLUMNS = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0"


class Source:
    """A copy of a foreign database: its real tables, and their rows as text."""

    def __init__(self, conn: apsw.Connection, path: Path) -> None:
        self._conn = conn
        self._path = path
        self._until = time.monotonic() + PATIENCE_S
        conn.set_progress_handler(lambda: time.monotonic() > self._until, LOOK_EVERY)
        self._encoding = str(conn.pragma("encoding"))
        self.tables = {name: self._columns(name) for (name,) in fetch.rows(conn, TABLES)}
        self.too_large = 0

    def _columns(self, table: str) -> frozenset[str]:
        return frozenset(name for (name,) in fetch.rows(self._conn, COLUMNS, table))

    def count(self, table: str) -> int:
        """How many rows a table has, as far as it is worth counting."""
        self._go_on()
        sql = f'SELECT count(*) FROM (SELECT 1 FROM "{table}" NOT INDEXED LIMIT {COUNTED})'
        return int(fetch.value(self._conn, sql))

    def rows(
        self, table: str, wanted: Mapping[str, tuple[str, ...]]
    ) -> Iterator[dict[str, Any]]:
        """Rows with the wanted values as text, each from the columns that hold it.

        A row that is larger than 10 MB is left out and counted.

        Raises:
            InvalidInput: there are more than two million.
        """
        here = {to: [c for c in names if c in self.tables[table]] for to, names in wanted.items()}
        here = {to: names for to, names in here.items() if names}
        parts = ", ".join(_expression(names) for names in here.values())
        sql = f'SELECT {parts} FROM "{table}" NOT INDEXED WHERE rowid = ?'
        for number, (rowid,) in enumerate(
            self._conn.execute(f'SELECT rowid FROM "{table}" NOT INDEXED')
        ):
            if number == MOST_ROWS:
                raise InvalidInput(f"{self._path}: {table} has more than {MOST_ROWS:,} rows")
            self._go_on()
            try:
                found = fetch.row(self._conn, sql, rowid)
            except apsw.TooBigError:
                self.too_large += 1
                continue
            yield dict(zip(here, map(self._text, found or ()), strict=False))

    def _go_on(self) -> None:
        self._until = time.monotonic() + PATIENCE_S

    def _text(self, raw: bytes | None) -> str | None:
        return None if raw is None else raw.decode(self._encoding, "replace")


def _expression(columns: list[str]) -> str:
    """The first of several columns that is not NULL, as bytes: text may be no UTF-8."""
    names = ", ".join(f'"{column}"' for column in columns)
    return f"CAST({f'coalesce({names})' if len(columns) > 1 else names} AS BLOB)"


@contextmanager
def opened(path: Path, work: Path) -> Iterator[Source]:
    """A copy of the database at `path`, made in a folder of its own below `work`.

    Raises:
        InvalidInput: it is no database, not of another program, or can't be read.
    """
    try:
        with work_folder(work) as folder:
            copy = folder / "copy.db"
            _copy(path, copy)
            conn = _connected(copy)
            try:
                _not_ours(conn, path)
                yield Source(conn, path)
            finally:
                conn.close(True)
    except apsw.CorruptError as error:
        raise InvalidInput(DAMAGED.format(path=path)) from error
    except apsw.Error as error:
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidInput(f"{path} can't be read as a database: {text}") from error


def _not_ours(conn: apsw.Connection, path: Path) -> None:
    if conn.pragma("application_id") == APPLICATION_ID:
        raise InvalidInput(f"{path} is a database of this program, not one of claude-mem")


def _copy(path: Path, copy: Path) -> None:
    """Copy file and log as they are at one moment."""
    _interrupted(path)
    for _ in range(TRIES):
        before = _state(path)
        for end in ("", "-wal"):
            if end == "" or _size(path, end):
                _copy_one(path.with_name(path.name + end), copy.with_name(copy.name + end))
        if _state(path) == before:
            return
        copy.with_name(copy.name + "-wal").unlink(missing_ok=True)
        time.sleep(0.2)
    raise InvalidInput(f"{path} is being written all the time; stop claude-mem and try again")


def _copy_one(source: Path, target: Path) -> None:
    with open_regular(source, LARGEST) as file, open(target, "wb") as copy:
        size, free = os.fstat(file.fileno()).st_size, shutil.disk_usage(target.parent).free
        if size > free // 2:
            raise InvalidInput(
                f"{source} has {size:,} bytes and there is no room for a copy in {target.parent}"
            )
        shutil.copyfileobj(file, copy, 1 << 20)


def _state(path: Path) -> list[tuple[int, int]]:
    states = [os.stat(path.with_name(path.name + end)) for end in ("", "-wal") if _size(path, end)]
    return [(state.st_size, state.st_mtime_ns) for state in states]


def _size(path: Path, end: str) -> int:
    try:
        return os.lstat(path.with_name(path.name + end)).st_size
    except OSError:
        return 0


def _interrupted(path: Path) -> None:
    """A rollback journal names other files to SQLite: it is not given any."""
    with open_regular(path, LARGEST) as file:
        if not _is_header(file.read(100)):
            raise InvalidInput(f"{path} is no SQLite database")
    if _size(path, "-journal"):
        raise InvalidInput(
            f"{path} was left in the middle of a write; start claude-mem once, stop it, try again"
        )


def _is_header(head: bytes) -> bool:
    """Whether a file begins as a database does; a copy of gigabytes of nothing takes long."""
    page = int.from_bytes(head[16:18], "big")
    return head.startswith(MAGIC) and (page == 1 or (page >= 512 and page.bit_count() == 1))


def _connected(copy: Path) -> apsw.Connection:
    if copy.with_name(copy.name + "-wal").exists():
        _merge_log(copy)
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return _guarded(apsw.Connection(f"{copy.as_uri()}?immutable=1", flags=flags))


def _merge_log(copy: Path) -> None:
    """What stands in the log only is brought into the copy; nothing else runs."""
    conn = _guarded(apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE))
    try:
        fetch.rows(conn, "PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        conn.close(True)


def _guarded(conn: apsw.Connection) -> apsw.Connection:
    for option, value in (
        (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
        (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
        (apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0),
        (apsw.SQLITE_DBCONFIG_DQS_DML, 0),
    ):
        conn.config(option, value)
    for limit, value in LIMITS.items():
        conn.limit(limit, value)
    conn.execute("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY")
    return conn
