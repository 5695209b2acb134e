"""Putting a sound database in the place of a damaged one, which is kept."""

from __future__ import annotations

import os
import shutil
import stat
import time
from pathlib import Path

import apsw
import attrs

from claude_mem_core.errors import NotFound, StoreDamaged, StoreError
from claude_mem_core.store import connect, fetch, identity, migrations, ready
from claude_mem_core.store.faults import fault
from claude_mem_core.store.salvage.fill import Saved, fill, rows_of
from claude_mem_core.store.salvage.found import Found
from claude_mem_core.store.salvage.mend import Locate, mend
from claude_mem_core.store.snapshot import snapshots
from claude_mem_core.store.verify import verify

FRESH = ".repaired"
# Nothing of these tables means that nothing worth keeping was found.
CONTENT = ("sdk_sessions", "events", "observations", "session_summaries", "user_prompts")


@attrs.frozen(kw_only=True)
class Repaired:
    """What a repair did.

    Attributes:
        kept: where the damaged file lies now, with its bytes; its log beside it.
        tables: what was saved of each table.
        pages: damaged pages that were met.
        snapshot: the snapshot that was put in place because nothing could be read.
        off: what is still not right, in sentences; empty as it should be.
    """

    kept: Path
    tables: tuple[Saved, ...]
    pages: int = 0
    snapshot: Path | None = None
    off: tuple[str, ...] = ()

    @property
    def saved(self) -> int:
        """Rows that were saved, of all tables."""
        return sum(table.saved for table in self.tables)

    @property
    def lost(self) -> int:
        """Rows that are known to be lost."""
        return sum(table.lost or 0 for table in self.tables)


def repair(path: Path, locate: Locate, now: int) -> Repaired:
    """Save what can be read of the database at `path` into a fresh file in its place.

    Nobody else may have it open. The damaged file is never written; it is kept beside.

    Raises:
        NotFound: there is no database.
        StoreForeign: another program's file or a newer version's; left as it is.
        StoreError: the fresh file can't be written.
    """
    _refuse(path)
    for left in path.parent.glob(f"{path.name}.*{FRESH}*"):  # of a repair that was killed
        left.unlink()
    fresh = path.with_name(f"{path.name}.{time.time_ns()}{FRESH}")
    try:
        ready.create(fresh)
        done = _salvaged(path, fresh, locate, now)
        done = done if _has_content(done) else _from_snapshot(path, fresh, done)
        return attrs.evolve(done, kept=_swap(path, fresh))
    except (apsw.Error, OSError) as error:
        raise fault(error, path) from error
    finally:
        for end in ("", "-journal", "-wal", "-shm"):
            fresh.with_name(fresh.name + end).unlink(missing_ok=True)


def _refuse(path: Path) -> None:
    """What is not ours to mend is not touched."""
    if not os.path.lexists(path):
        raise NotFound(f"no database at {path}: nothing to repair")
    try:
        identity.check(path, migrations.VERSION)
    except StoreDamaged:
        return
    except apsw.Error:  # the damage hides what its log says of it
        return
    except StoreError:
        if not stat.S_ISDIR(path.lstat().st_mode):
            raise


def _salvaged(path: Path, fresh: Path, locate: Locate, now: int) -> Repaired:
    if not path.is_file():
        return Repaired(kept=path, tables=())
    found = Found(path)
    conn = connect.connection(fresh, apsw.SQLITE_OPEN_READWRITE)
    try:
        conn.execute("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF")
        with conn:
            filled = fill(conn, found)
            mend(conn, locate, now)
            tables = [table.now(rows_of(conn, table.table)) for table in filled]
        return Repaired(
            kept=path, tables=tuple(tables), pages=found.damaged_pages, off=_off(conn)
        )
    finally:
        conn.close()


def _off(conn: apsw.Connection) -> tuple[str, ...]:
    """What is wrong with the fresh file; nothing should be."""
    checks = [str(row[0]) for row in fetch.rows(conn, "PRAGMA integrity_check(20)")]
    keys = len(fetch.rows(conn, "PRAGMA foreign_key_check"))
    broken = [f"{keys} rows point to rows that are not there"] if keys else []
    return (*(text for text in checks if text != "ok"), *broken, *verify(conn).off)


def _has_content(done: Repaired) -> bool:
    return any(table.saved for table in done.tables if table.table in CONTENT)


def _from_snapshot(path: Path, fresh: Path, done: Repaired) -> Repaired:
    """The newest sound snapshot in place of a file that nothing can be read of."""
    for taken in reversed(snapshots(path.parent / "snapshots", path.stem)):
        tables = _copied(taken, fresh)
        if tables:
            return attrs.evolve(done, tables=tables, snapshot=taken)
    return done


def _copied(taken: Path, fresh: Path) -> tuple[Saved, ...]:
    """Copy a snapshot; nothing when it is damaged itself."""
    try:
        counts = _counted(taken)
    except (StoreError, apsw.Error):
        return ()
    shutil.copyfile(taken, fresh)
    return counts


def _counted(taken: Path) -> tuple[Saved, ...]:
    identity.check(taken, migrations.VERSION)
    conn = connect.connection(taken, apsw.SQLITE_OPEN_READONLY)
    try:
        if fetch.value(conn, "PRAGMA quick_check(1)") != "ok":
            return ()
        return tuple(Saved(table, rows_of(conn, table), None) for table in CONTENT)
    finally:
        conn.close()


def _swap(path: Path, fresh: Path) -> Path:
    """Give the damaged file another name and the fresh one its own.

    The new name comes first and the exchange is one step, so that at no moment there is
    no database: a worker that starts then would make an empty one.
    """
    _to_disk(fresh)
    kept = _free_name(path)
    if path.is_dir():
        os.rename(path, kept)
    else:
        _second_name(path, kept)
    for end in ("-wal", "-shm"):
        beside = path.with_name(path.name + end)
        if os.path.lexists(beside):
            os.replace(beside, kept.with_name(kept.name + end))
    os.replace(fresh, path)
    _to_disk(path.parent)
    return kept


def _free_name(path: Path) -> Path:
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    for number in range(1000):
        name = path.with_name(f"{path.name}.damaged-{stamp}-{number:03}")
        if not os.path.lexists(name):
            return name
    raise StoreError(f"too many damaged files beside {path}; move some away")


def _second_name(path: Path, kept: Path) -> None:
    try:
        os.link(path, kept, follow_symlinks=False)
    except OSError:  # a file system without hard links
        shutil.copy2(path, kept)
        _to_disk(kept)


def _to_disk(path: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
