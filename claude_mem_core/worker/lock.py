"""The one lock of a data directory: held by the system, never by a file's existence."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from pathlib import Path

from claude_mem_core.worker.identity import MOST_BYTES, Identity, is_running, parse

if sys.platform != "win32":
    import fcntl

PATIENCE_S = 0.5  # for those who only look whether the lock is held


def clear_place(path: Path) -> None:
    """Make room where a plain file of ours belongs; a plain file stays.

    Crashes, restored backups and strangers leave links, folders and pipes under our
    names. A link or pipe goes; a folder that is not empty is moved aside.
    """
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISREG(mode):
        return
    if not stat.S_ISDIR(mode):
        path.unlink()
        return
    try:
        path.rmdir()
    except OSError:
        path.rename(path.with_name(f"{path.name}.odd-{time.time_ns()}"))


class WorkerLock:
    """Held from `acquire` to `release`, or until the process ends, whatever ends it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    @classmethod
    def acquire(cls, path: Path) -> WorkerLock | None:
        """The lock, or None when another process holds it."""
        end = time.monotonic() + PATIENCE_S
        while True:
            clear_place(path)
            fd = _open(path)
            if _try_lock(fd) and _same_file(fd, path):
                return cls(fd)
            named = parse(os.pread(fd, MOST_BYTES, 0))
            os.close(fd)
            if (named and is_running(named)) or time.monotonic() > end:
                return None
            time.sleep(0.01)

    def name(self, process: Identity) -> None:
        """Write who holds it; only the holder writes here."""
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, process.to_bytes(), 0)

    def is_at(self, path: Path) -> bool:
        """Whether the file held is still the one that others would lock."""
        return _same_file(self._fd, path)

    def release(self) -> None:
        """Give it up; the file stays, empty."""
        with contextlib.suppress(OSError):  # a full disk must not keep the lock
            os.ftruncate(self._fd, 0)
        os.close(self._fd)


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    return os.open(path, flags, 0o600)


def _try_lock(fd: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(fd, 1 << 20, os.SEEK_SET)
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in {errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK}:
            return False
        raise
    return True


def _same_file(fd: int, path: Path) -> bool:
    """Whether `path` still names the file we locked."""
    try:
        there = os.lstat(path)
    except FileNotFoundError:
        return False
    here = os.fstat(fd)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def holder(path: Path) -> tuple[bool, Identity | None]:
    """Whether the lock is held, and by which process as far as it has said so."""
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        fd = os.open(path, flags)
    except OSError:
        return False, None
    try:
        if _try_lock(fd):
            return False, None
        return True, parse(os.pread(fd, MOST_BYTES, 0))
    finally:
        os.close(fd)


def wait_free(path: Path, seconds: float) -> bool:
    """Whether the lock becomes free within `seconds`."""
    end = time.monotonic() + seconds
    while holder(path)[0]:
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
