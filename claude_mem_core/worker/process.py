"""Being the one worker of a data directory, and the files that say so."""

from __future__ import annotations

import errno
import json
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from claude_mem_core import __version__
from claude_mem_core.errors import MemError, WorkerError
from claude_mem_core.files import secure_dir, write_private
from claude_mem_core.paths import Paths
from claude_mem_core.worker import identity, reclaim, sockets
from claude_mem_core.worker.lock import WorkerLock, clear_place, holder


class AlreadyRunning(WorkerError):
    """Another worker serves this data directory; that is no fault."""


@attrs.frozen
class Place:
    """What the one worker of a data directory holds."""

    lock: WorkerLock
    listener: socket.socket


@contextmanager
def claimed(paths: Paths, start_id: str) -> Iterator[Place]:
    """Be the one worker: lock, pid file, listening socket; all gone at the end.

    Raises:
        AlreadyRunning: a live worker holds the lock.
        MemError: the directory can't be used; the text says what to do.
    """
    lock = _locked(paths)
    made = [paths.pid, paths.port, paths.heartbeat]
    try:
        try:
            lock.name(me := identity.current(__version__, start_id))
            listener = sockets.listen(paths)
            made.append(sockets.socket_path(paths))
            _say_who(paths, me)
        except OSError as error:
            raise unusable(paths, error) from error
        yield Place(lock, listener)
    finally:
        # Somebody has deleted the directory: what is there now is another worker's.
        for path in made if lock.is_at(paths.lock) else ():
            identity.remove(path)
        lock.release()


def _locked(paths: Paths) -> WorkerLock:
    try:
        secure_dir(paths.data)
        lock = WorkerLock.acquire(paths.lock)
        if lock is None and reclaim.from_wedged(paths):
            lock = WorkerLock.acquire(paths.lock)
    except OSError as error:
        raise unusable(paths, error) from error
    if lock is None:
        raise AlreadyRunning("a worker is already running; see `mem status`")
    return lock


def _say_who(paths: Paths, me: identity.Identity) -> None:
    for path in (paths.pid, paths.port, paths.heartbeat, paths.token):
        clear_place(path)
    identity.remove(paths.port)
    _close_to_others(paths.settings)
    write_private(paths.pid, me.to_bytes())
    identity.remove(failure_file(paths))


def _close_to_others(path: Path) -> None:
    """A file that may hold keys is for its owner alone, however it was made."""
    try:
        state = path.lstat()
    except OSError:
        return
    if stat.S_ISREG(state.st_mode) and state.st_mode & 0o077:
        path.chmod(0o600)


def unusable(paths: Paths, error: OSError) -> MemError:
    """What to tell when the data directory can't be used."""
    where = paths.data
    hints = {
        errno.ENOSPC: "the disk is full: free some space, then run `mem start`",
        errno.EDQUOT: "your disk quota is used up: free some space, then run `mem start`",
        errno.EFBIG: "a limit on file sizes forbids writing (see `ulimit -f`)",
        errno.EROFS: "it is on a read-only file system: make it writable, or set"
        " CLAUDE_MEM_DATA_DIR",
        errno.EACCES: "it can't be written by this user: mend its owner and mode (0700)",
        errno.EPERM: "it can't be written by this user: mend its owner and mode (0700)",
        errno.ENOTDIR: "it is not a directory: move that file away, or set"
        " CLAUDE_MEM_DATA_DIR",
        errno.EEXIST: "it is not a directory: move that file away, or set"
        " CLAUDE_MEM_DATA_DIR",
    }
    hint = hints.get(error.errno or 0, f"{error.strerror or error}; see `mem doctor`")
    return WorkerError(f"the data directory {where} can't be used: {hint}")


def failure_file(paths: Paths) -> Any:
    """Where the reason of a failed start is kept for `mem status`."""
    return paths.data / "worker-failed.json"


def note_failure(paths: Paths, text: str, at_ms: int) -> None:
    """Keep the reason of a failed start, if anything can be written at all."""
    try:
        write_private(failure_file(paths), json.dumps({"at_ms": at_ms, "text": text}).encode())
    except (OSError, MemError):
        return


def last_failure(paths: Paths) -> dict[str, Any] | None:
    """The reason of the last start, if it failed and none went well since."""
    try:
        value = json.loads(identity.small_file(failure_file(paths)))
    except ValueError:
        return None
    return value if isinstance(value, dict) and isinstance(value.get("text"), str) else None


def is_held(paths: Paths) -> bool:
    """Whether a worker holds the lock of this data directory."""
    return holder(paths.lock)[0]
