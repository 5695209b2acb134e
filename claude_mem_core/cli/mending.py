"""The cures that `mem repair` applies; each says what it did."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from claude_mem_core import edge
from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths
from claude_mem_core.worker import process, reclaim
from claude_mem_core.worker.lock import clear_place
from claude_mem_core.worker.sockets import socket_path

TEMP_AGE_S = 60.0


def mend(paths: Paths) -> Iterator[str]:
    """Apply every cure that needs no decision.

    Raises:
        StoreError: the data directory can't be used at all.
    """
    secure_dir(paths.data)
    try:
        yield from _modes(paths)
        yield from _leftovers(paths)
    except OSError as error:
        raise process.unusable(paths, error) from error
    yield from _hook(paths)
    yield from _worker(paths)


def _modes(paths: Paths) -> Iterator[str]:
    """What lies in the data directory is for its owner alone."""
    for folder, folders, files in os.walk(paths.data):
        for name in (*folders, *files):
            path = Path(folder, name)
            state = path.lstat()
            if stat.S_ISLNK(state.st_mode) or not state.st_mode & 0o077:
                continue
            path.chmod(stat.S_IMODE(state.st_mode) & 0o700)
            yield f"closed {path} to others"


def _leftovers(paths: Paths) -> Iterator[str]:
    """Files of a worker that is gone, and what killed writers left behind."""
    if not process.is_held(paths):
        for path in (paths.pid, paths.port, paths.heartbeat, socket_path(paths)):
            if os.path.lexists(path):
                clear_place(path)
                with suppress(FileNotFoundError):
                    path.unlink()
                yield f"removed {path}, left behind by a former worker"
    for name in ("mute", "starting"):
        path = paths.data / name
        if path.exists():
            path.unlink()
            yield f"removed {path}: hooks try again at once"


def _hook(paths: Paths) -> Iterator[str]:
    faults = edge.hook_faults(paths)
    edge.install_hook(paths)
    if faults:
        yield "installed the hook's files anew"


def _worker(paths: Paths) -> Iterator[str]:
    """A worker that holds the lock and does not answer makes room for a new one."""
    from claude_mem_core.cli.launch import start

    if process.is_held(paths) and reclaim.from_wedged(paths):
        yield "ended a worker that did not answer"
    found = start(paths)
    if found.fresh:
        yield f"started the worker (pid {found.health['pid']})"
    if found.note:
        yield found.note
