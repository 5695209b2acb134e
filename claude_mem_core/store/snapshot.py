"""Consistent copies of the database, kept beside it."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import apsw

from claude_mem_core.errors import NotFound
from claude_mem_core.store import connect
from claude_mem_core.store.faults import fault

KEPT = 5
PAGES = 256  # copied at a time, so that the writer is never held up for long


def snapshot(path: Path, keep: int = KEPT) -> Path:
    """Copy the database at `path` into `snapshots/` beside it and return the copy.

    The oldest ones beyond `keep` are deleted. The copy is complete or absent.

    Raises:
        apsw.Error, OSError: it could not be made.
    """
    folder = path.parent / "snapshots"
    folder.mkdir(mode=0o700, exist_ok=True)
    target = _new_name(folder, path.stem)
    partial = target.with_suffix(".part")
    connect.touch(partial)
    try:
        _copy(path, partial)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
    _prune(folder, path.stem, keep)
    return target


def take(path: Path, keep: int = KEPT) -> Path:
    """`snapshot`, for people: what can't be done is said in words.

    Raises:
        NotFound: there is no database.
        StoreForeign: it is not ours.
        StoreError: it can't be read, or the copy can't be written.
    """
    from claude_mem_core.store import identity, migrations

    if not path.exists():
        raise NotFound(f"no database at {path}: nothing was recorded yet")
    identity.check(path, migrations.VERSION)
    try:
        return snapshot(path, keep)
    except (apsw.Error, OSError) as error:
        raise fault(error, path) from error


def is_due(path: Path, every_s: float, now_s: float) -> bool:
    """Whether the newest copy is old enough, and the database has changed since."""
    newest = max((_changed(one) for one in snapshots(path.parent / "snapshots", path.stem)), default=0.0)
    changed = max(_changed(path), _changed(path.with_name(f"{path.name}-wal")))
    return now_s - newest >= every_s and changed > newest


def has_room(path: Path) -> bool:
    """Whether a copy would leave the disk as much again."""
    return shutil.disk_usage(path.parent).free > 2 * path.stat().st_size


def limit(path: Path, keep: int, most_bytes: int) -> list[Path]:
    """Delete the oldest copies beyond these limits; the newest one stays. Which they were."""
    gone, room = [], most_bytes
    for number, one in enumerate(reversed(snapshots(path.parent / "snapshots", path.stem))):
        room -= one.stat().st_size
        if number and (number >= keep or room < 0):
            one.unlink(missing_ok=True)
            gone.append(one)
    return gone


def _changed(path: Path) -> float:
    """When something was last written into it; an empty log says nothing."""
    try:
        found = path.stat()
    except OSError:
        return 0.0
    return found.st_mtime if found.st_size else 0.0


def snapshots(folder: Path, stem: str = "memory") -> list[Path]:
    """The snapshots in `folder`, oldest first."""
    return sorted(folder.glob(f"{stem}-*.db"))


def _copy(path: Path, partial: Path) -> None:
    source = connect.connection(path, apsw.SQLITE_OPEN_READONLY)
    copy = apsw.Connection(str(partial), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        with copy.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(PAGES)
        copy.pragma("journal_mode", "delete")
    finally:
        copy.close()
        source.close()


def _new_name(folder: Path, stem: str) -> Path:
    """Names sort by time."""
    seconds, rest = divmod(time.time_ns(), 1_000_000_000)
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(seconds))
    return folder / f"{stem}-{stamp}-{rest:09}.db"


def _prune(folder: Path, stem: str, keep: int) -> None:
    for old in snapshots(folder, stem)[:-keep]:
        old.unlink(missing_ok=True)
