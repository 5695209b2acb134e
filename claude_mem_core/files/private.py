"""Files of ours: written whole or not at all, read only when nobody could have planted them."""

from __future__ import annotations

import errno
import os
import shlex
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from claude_mem_core.errors import InvalidInput, StoreError
from claude_mem_core.files.faults import explained, reason
from claude_mem_core.files.folders import (
    CLOEXEC,
    NOFOLLOW,
    NONBLOCK,
    OTHERS_WRITE,
    POSIX,
    at,
    parent_of,
    user_name,
)

TEMP = ".tmp"


def write_private(path: Path, data: bytes) -> None:
    """Replace `path` by `data`, all or nothing, on disk when this returns; mode 0600.

    Raises:
        StoreError: its directory is not ours alone, or the disk says no.
    """
    with explained(path), parent_of(path) as handle:
        write_at(handle, path, data)


def write_at(
    handle: int | None,
    path: Path,
    data: bytes,
    mode: int = 0o600,
    last: Callable[[str], None] | None = None,
) -> None:
    """Write beside `path` under a name nobody could have planted, then rename.

    A link that stands at `path` is replaced, not followed. `last` is called with the
    new file's name right before the rename; what it raises stops it.
    """
    temp = path.with_name(f".{path.name}.{os.urandom(6).hex()}{TEMP}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | CLOEXEC
    fresh = os.open(at(temp, handle), flags, mode, dir_fd=handle)
    try:
        _fill(fresh, data, mode)
        names = (at(temp, handle), at(path, handle))
        if last is not None:
            last(names[0])
        os.replace(*names, src_dir_fd=handle, dst_dir_fd=handle)
    except BaseException:
        with suppress(OSError):
            os.unlink(at(temp, handle), dir_fd=handle)
        raise
    if handle is not None:
        os.fsync(handle)


def _fill(handle: int, data: bytes, mode: int) -> None:
    with os.fdopen(handle, "wb") as file:
        if POSIX:
            os.fchmod(handle, mode)
        file.write(data)
        file.flush()
        os.fsync(handle)


def sweep_temps(path: Path, older_than_s: float = 60.0) -> None:
    """Remove what a killed writer of `path` left behind."""
    for left in path.parent.glob(f".{path.name}.*{TEMP}"):
        with suppress(OSError):
            if time.time() - left.lstat().st_mtime > older_than_s:
                left.unlink()


def open_append(path: Path) -> BinaryIO:
    """Open a log of ours for appending; made with mode 0600 when missing.

    Raises:
        StoreError: a link, a device or a stranger's file stands there.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | NOFOLLOW | NONBLOCK | CLOEXEC
    with explained(path), parent_of(path) as handle:
        file = os.open(at(path, handle), flags, 0o600, dir_fd=handle)
        return os.fdopen(_checked(file, path), "ab", buffering=0)


def _checked(file: int, path: Path) -> int:
    """Close and refuse what is not a regular file of ours with one name."""
    state = os.fstat(file)
    fault = None
    if not stat.S_ISREG(state.st_mode):
        fault = "is no regular file"
    elif POSIX and state.st_uid != os.geteuid():
        fault = f"belongs to {user_name(state.st_uid)}"
    elif state.st_nlink > 1:
        fault = "has a second name somewhere else"
    elif POSIX and state.st_mode & OTHERS_WRITE:
        fault = "may be written by others"
    if fault is None:
        return file
    os.close(file)
    raise StoreError(f"{path} {fault}; it is not used. Remove it: rm {shlex.quote(str(path))}")


def read_private(path: Path, limit: int) -> bytes:
    """Read a file of ours of at most `limit` bytes.

    Raises:
        FileNotFoundError: there is none.
        StoreError: it is a link, not ours, writable by others, or larger than `limit`.
    """
    with explained(path, may_miss=True), parent_of(path) as handle:
        flags = os.O_RDONLY | NOFOLLOW | NONBLOCK | CLOEXEC
        file = os.open(at(path, handle), flags, dir_fd=handle)
        with os.fdopen(_checked(file, path), "rb") as opened:
            data = opened.read(limit + 1)
    if len(data) > limit:
        raise StoreError(f"{path} is larger than {limit:,} bytes; it is not read")
    return data


def open_regular(path: str | Path, limit: int, *, follow: bool = False) -> BinaryIO:
    """Open anybody's file for reading: regular, at most `limit` bytes, never hanging.

    A link at the last name is followed only with `follow`.

    Raises:
        InvalidInput: it can't be opened, is no regular file, or is too large.
    """
    flags = os.O_RDONLY | NONBLOCK | CLOEXEC | (0 if follow else NOFOLLOW)
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} can't be read: {reason(error)}") from None
    state = os.fstat(handle)
    if stat.S_ISREG(state.st_mode) and state.st_size <= limit:
        return os.fdopen(handle, "rb")
    os.close(handle)
    fault = "too large" if stat.S_ISREG(state.st_mode) else "no regular file"
    raise InvalidInput(
        f"{path} is {fault} (at most {limit:,} bytes of a regular file are read)"
    )


@contextmanager
def locked(path: Path, timeout_s: float = 10.0) -> Iterator[None]:
    """Hold the lock of file `path` (made when missing, never removed).

    Raises:
        StoreError: another process holds it for longer than `timeout_s`.
    """
    flags = os.O_RDWR | os.O_CREAT | NOFOLLOW | CLOEXEC
    with explained(path), parent_of(path) as parent:
        handle = os.open(at(path, parent), flags, 0o600, dir_fd=parent)
    try:
        _wait(handle, path, time.monotonic() + timeout_s)
        yield
    finally:
        os.close(handle)


def _wait(handle: int, path: Path, deadline: float) -> None:
    while not _try_lock(handle):
        if time.monotonic() > deadline:
            raise StoreError(
                f"another process holds {path}; see who: fuser -v {shlex.quote(str(path))}"
            )
        time.sleep(0.01)


def _try_lock(handle: int) -> bool:
    try:
        if POSIX:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            _lock_windows(handle)
    except OSError as error:
        if error.errno in {errno.EAGAIN, errno.EACCES, errno.EDEADLK}:
            return False
        raise
    return True


def _lock_windows(handle: int) -> None:
    import msvcrt

    msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
