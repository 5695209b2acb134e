"""Whether the data directory can still be written: room on the disk, and the rights."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

LEAST = 65_536  # bytes; with less nothing can be relied on to be written
PROBE = b"\0" * 8_192

FULL = (
    "no space left in {data} ({free:,} bytes free); nothing can be stored. Hooks keep their"
    " events in {spool} while there is room for that; make room, memory goes on by itself"
)
REFUSED = (
    "{data} can't be written ({error}); nothing can be stored. Check the disk and the rights"
    " of the directory, memory goes on by itself"
)


def fault(data: Path) -> str | None:
    """What keeps us from storing, for people; None when all is well.

    A small file is written and deleted: a quota or a read-only disk shows in no number.
    """
    if not data.is_dir():
        return None
    free = _free(data)
    if free is not None and free < LEAST:
        return FULL.format(data=data, free=free, spool=data / "spool")
    try:
        _try(data)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            return FULL.format(data=data, free=free or 0, spool=data / "spool")
        return REFUSED.format(data=data, error=error.strerror or type(error).__name__)
    return None


def _free(data: Path) -> int | None:
    """Bytes that this user may still write; None where the system does not say."""
    if not hasattr(os, "statvfs"):
        return None
    state = os.statvfs(data)
    return state.f_bavail * state.f_frsize if state.f_blocks else None


def _try(data: Path) -> None:
    path = data / f".room-{os.getpid()}-{os.urandom(4).hex()}.tmp"
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(file, PROBE)
        os.fsync(file)
    finally:
        os.close(file)
        with suppress(OSError):
            path.unlink()
