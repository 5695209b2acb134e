"""Small files that hooks leave for the worker: a start that was tried, events lost."""

from __future__ import annotations

import os
import time
from contextlib import suppress

from claude_mem_core.errors import StoreError
from claude_mem_core.files import locked, read_private, write_private
from claude_mem_core.paths import Paths

WIDTH = 20  # the counter is overwritten in place, so that a full disk can still count


def confirm_start(paths: Paths) -> None:
    """Tell hooks that a worker is up, and since when: no other is started right after.

    Raises:
        StoreError, OSError: the note can't be written.
    """
    with suppress(FileNotFoundError):
        os.unlink(paths.data / "mute")
    starting = paths.data / "starting"
    note = f"{time.time():.3f} {os.getpid()} ok".ljust(39) + "\n"
    if not os.path.lexists(starting):
        write_private(starting, note.encode("ascii"))
        return
    with locked(starting):
        _overwrite(starting, note)


def _overwrite(path: os.PathLike[str], text: str) -> None:
    file = os.open(path, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0))
    try:
        os.write(file, text.encode("ascii"))
    finally:
        os.close(file)


def lost(paths: Paths) -> int:
    """How many events hooks could not keep, since it was last told."""
    try:
        return int(read_private(paths.data / "lost.count", 64) or b"0")
    except (FileNotFoundError, StoreError, ValueError):
        return 0


def take_lost(paths: Paths) -> int:
    """The same, and begin to count anew.

    Raises:
        StoreError: the counter can't be written.
    """
    found = lost(paths)
    if found:
        counter = paths.data / "lost.count"
        with locked(counter):
            found = lost(paths)
            _overwrite(counter, f"{0:0{WIDTH}d}")
    return found
