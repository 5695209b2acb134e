"""Directories that others can neither read nor swap, reached by handle."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from claude_mem_core.errors import HostConfigError, StoreError
from claude_mem_core.files.faults import explained

POSIX = os.name == "posix"
# Flags that Windows does not have count as nothing there.
CLOEXEC = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
NONBLOCK = getattr(os, "O_NONBLOCK", 0)
DIRECTORY = getattr(os, "O_DIRECTORY", 0)
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def secure_dir(path: Path) -> Path:
    """Make sure that `path` is a directory of ours alone (0700); returns its real path.

    Missing parts are made. A link is followed when it and its target are ours. A loose
    directory of ours is tightened, unless others have already put something in it.

    Raises:
        StoreError: others could read or replace what lies there; the text names the
            part at fault and what to do.
    """
    real = Path(os.path.realpath(path))
    with explained(path):
        if POSIX:
            _check_parents(Path(os.path.abspath(path)).parent)
            _check_parents(real.parent)
        _make(real)
        with opened_dir(real) as handle:
            _tighten(real, handle)
    return real


def _make(real: Path) -> None:
    missing = [part for part in (real, *real.parents) if not part.exists()]
    for part in reversed(missing):
        with suppress(FileExistsError):
            part.mkdir(0o700)


def _check_parents(folder: Path) -> None:
    """As ssh's StrictModes does: who may write above could swap what lies below."""
    for part in (folder, *folder.parents):
        try:
            state = os.lstat(part)
        except FileNotFoundError:
            continue
        if part.parent != part:
            _check_part(part, state)


def _check_part(part: Path, state: os.stat_result) -> None:
    if state.st_uid not in {os.geteuid(), 0}:
        raise StoreError(_foreign(part, state.st_uid))
    if stat.S_ISLNK(state.st_mode) or state.st_mode & stat.S_ISVTX:
        return
    loose = state.st_mode & OTHERS_WRITE
    if loose & stat.S_IWOTH or (loose and not _private_group(state)):
        raise StoreError(
            f"others may write in {part} and could replace the memory below it; close it: "
            f"chmod go-w {shlex.quote(str(part))}"
        )


def _foreign(part: Path, uid: int) -> str:
    return (
        f"{part} belongs to {user_name(uid)}, not to you; nothing is kept below it. "
        "Choose a place of your own: export CLAUDE_MEM_DATA_DIR=$HOME/.claude-mem"
    )


def user_name(uid: int) -> str:
    import pwd

    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"


def _private_group(state: os.stat_result) -> bool:
    """Whether the group is the user's own, as Debian and Fedora make one for each."""
    import grp
    import pwd

    try:
        owner = pwd.getpwuid(state.st_uid).pw_name
        group = grp.getgrgid(state.st_gid)
    except KeyError:
        return False
    return group.gr_name == owner and set(group.gr_mem) <= {owner}


def _tighten(real: Path, handle: int | None) -> None:
    if handle is None:
        return
    state = os.fstat(handle)
    if state.st_uid != os.geteuid():
        raise StoreError(_foreign(real, state.st_uid))
    if not stat.S_IMODE(state.st_mode) & 0o077:
        return
    if state.st_mode & OTHERS_WRITE:
        _refuse_strangers(real, handle)
    os.fchmod(handle, 0o700)


def _refuse_strangers(real: Path, handle: int) -> None:
    for name in os.listdir(handle):
        uid = os.stat(name, dir_fd=handle, follow_symlinks=False).st_uid
        if uid not in {os.geteuid(), 0}:
            raise StoreError(_foreign(real / name, uid))


@contextmanager
def opened_dir(path: Path) -> Iterator[int | None]:
    """A handle of the directory itself, no link; None where the system has no such."""
    if not POSIX:
        yield None
        return
    handle = os.open(path, os.O_RDONLY | DIRECTORY | NOFOLLOW | CLOEXEC)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def opened_inside(root: Path, folder: Path, *, make: bool = False) -> Iterator[int | None]:
    """A handle of `folder`, walked to from `root` without following any link below it.

    With `make`, missing folders are made (0755, they belong to the user's project).

    Raises:
        HostConfigError: a link or a file stands in the way; the text names it.
        FileNotFoundError: a folder is missing.
    """
    handle = os.open(root, os.O_RDONLY | DIRECTORY | CLOEXEC) if POSIX else None
    try:
        place = root
        for name in folder.relative_to(root).parts:
            place = place / name
            if make and not os.path.lexists(place):
                os.mkdir(name if POSIX else place, 0o755, dir_fd=handle)
            handle = _step(handle, place)
        yield handle
    finally:
        if handle is not None:
            os.close(handle)


def _step(handle: int | None, place: Path) -> int | None:
    if handle is None:
        return None
    try:
        flags = os.O_RDONLY | DIRECTORY | NOFOLLOW | CLOEXEC
        below = os.open(place.name, flags, dir_fd=handle)
    except OSError as error:
        if not os.path.lexists(place):
            raise
        target = f" to {os.readlink(place)}" if place.is_symlink() else ""
        what = f"a link{target}" if target else (error.strerror or "no folder")
        raise HostConfigError(
            f"{place} is {what}; nothing is written through it. Look: ls -ld "
            f"{shlex.quote(str(place))}"
        ) from None
    os.close(handle)
    return below


@contextmanager
def parent_of(path: Path) -> Iterator[int | None]:
    """A handle of `path`'s directory, which must be ours and closed to others."""
    with opened_dir(Path(os.path.realpath(path.parent))) as handle:
        if handle is not None:
            state = os.fstat(handle)
            if state.st_uid != os.geteuid():
                raise StoreError(_foreign(path.parent, state.st_uid))
            if not state.st_mode & stat.S_ISVTX:
                _check_part(path.parent, state)
        yield handle


def at(path: Path, handle: int | None) -> str:
    return path.name if handle is not None else str(path)
