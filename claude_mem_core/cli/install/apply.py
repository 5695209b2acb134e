"""Makes the changes that an installer planned, each whole or not at all."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs

from claude_mem_core.editing.files import Spot, spot
from claude_mem_core.editing.restore import INDEX, entries
from claude_mem_core.errors import HostConfigError
from claude_mem_core.files import secure_dir, write_at, write_private
from claude_mem_core.paths import Paths
from claude_mem_core.types import FileChange

KEPT = 200  # entries of the record of changes


class ChangedMeanwhile(HostConfigError):
    """Somebody else wrote between the plan and the change."""


@attrs.frozen
class Applied:
    """A change that was made; `backup` is the copy of the file before, None for none."""

    path: str
    backup: str | None


def apply(change: FileChange, paths: Paths) -> Applied:
    """Make one change, with a copy of the file before it in `<data>/backups`.

    Raises:
        HostConfigError: somebody else wrote meanwhile, or a link leads astray; nothing
            was changed.
        StoreError: the copy can't be kept; nothing was changed.
    """
    made = _to_be_made(change.path)
    try:
        with spot(change.path, change.inside, make=change.after is not None) as place:
            backup = _change(place, change, paths)
    except FileNotFoundError:
        raise _meanwhile(change) from None
    if not _is_ours(change.path, paths):
        _note(change, backup, paths, made)
    if change.after is None:
        _tidy(change.path, paths)
    return Applied(change.path, backup)


def _change(place: Spot, change: FileChange, paths: Paths) -> str | None:
    _unchanged(place, change)
    backup = _keep(change, paths)
    if change.after is None:
        os.unlink(place.name, dir_fd=place.handle)
    else:
        _write(place, change)
    return backup


def _is_ours(path: str, paths: Paths) -> bool:
    """Files in our own data directory need neither copy nor record."""
    return Path(path).is_relative_to(paths.data)


def _unchanged(place: Spot, change: FileChange) -> None:
    if place.read() != change.before:
        raise _meanwhile(change)


def _meanwhile(change: FileChange) -> ChangedMeanwhile:
    return ChangedMeanwhile(
        f"{change.path} was changed by somebody else meanwhile; nothing was written."
        " Run the command again"
    )


def _write(place: Spot, change: FileChange) -> None:
    assert change.after is not None
    state = place.state()
    mode = change.mode if state is None else stat.S_IMODE(state.st_mode)
    write_at(place.handle, place.path, change.after, mode, _last(place, change, state))


def _last(
    place: Spot, change: FileChange, state: os.stat_result | None
) -> Callable[[str], None]:
    """Right before the rename: the same owner as before, and nobody else's words lost."""

    def check(temp: str) -> None:
        if state is not None and hasattr(os, "chown"):
            with suppress(PermissionError):
                os.chown(temp, state.st_uid, state.st_gid, dir_fd=place.handle)
                os.chmod(temp, stat.S_IMODE(state.st_mode), dir_fd=place.handle)
        _unchanged(place, change)

    return check


def _keep(change: FileChange, paths: Paths) -> str | None:
    """Copy the file as it is; mode 0600 whatever its own is, it may hold keys."""
    if change.before is None or _is_ours(change.path, paths):
        return None
    folder = secure_dir(paths.backups)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    name = f"{stamp}-{os.urandom(3).hex()}-{os.path.basename(change.path)}"
    write_private(folder / name, change.before)
    return name


def _to_be_made(path: str) -> str | None:
    """The topmost folder on the way to a file that does not exist yet."""
    made, folder = None, os.path.dirname(path)
    while folder != os.path.dirname(folder) and not os.path.isdir(folder):
        made, folder = folder, os.path.dirname(folder)
    return made


def _note(change: FileChange, backup: str | None, paths: Paths, made: str | None) -> None:
    """Write down what was done; the way back is built on it."""
    row: dict[str, Any] = {
        "path": change.path,
        "at_ms": int(time.time() * 1000),
        "backup": backup,
        "made_folder": made,
    }
    rows = [*entries(str(paths.data)), row][-KEPT:]
    body = json.dumps(rows, indent=1).encode("utf-8", "surrogateescape")
    write_private(secure_dir(paths.backups) / INDEX, body)


def _tidy(path: str, paths: Paths) -> None:
    """Remove the folders, too, that we made and in which nothing is left."""
    folder = os.path.dirname(path)
    made = {row.get("made_folder") for row in entries(str(paths.data))}
    tops = {str(top) for top in made if top and Path(folder).is_relative_to(str(top))}
    last = min(tops, key=len) if tops else None
    with suppress(OSError):
        while last or (_is_ours(path, paths) and folder != str(paths.data)):
            os.rmdir(folder)
            if folder == last:
                return
            folder = os.path.dirname(folder)
