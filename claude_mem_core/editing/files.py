"""Configuration files of other programs, reached without being led astray.

In a repository every step is taken from its root by directory handle, and a link on the
way is refused: a checkout may not make us write elsewhere. In the user's own home a link
is followed once, if what it points to is the user's (that is how dotfiles are kept). Only
plain files are opened, never waiting (a FIFO), never more than `CONFIG_BYTES`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs

from claude_mem_core.errors import HostConfigError
from claude_mem_core.files import opened_dir, opened_inside
from claude_mem_core.files.folders import CLOEXEC, NOFOLLOW, NONBLOCK

CONFIG_BYTES = 16 * 1024 * 1024


@attrs.frozen
class Spot:
    """A file to be read or written, its folder held open.

    Attributes:
        path: where it really lies.
        handle: its folder; None where the system can't work by handle (Windows).
    """

    path: Path
    handle: int | None

    @property
    def name(self) -> str:
        """How to name it in calls that take the handle as `dir_fd`."""
        return str(self.path) if self.handle is None else self.path.name

    def state(self) -> os.stat_result | None:
        """What stands there; None when nothing does.

        Raises:
            HostConfigError: a link, or no plain file.
        """
        try:
            found = os.stat(self.name, dir_fd=self.handle, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if stat.S_ISLNK(found.st_mode):
            raise HostConfigError(
                f"{self.path} is a link to {os.readlink(self.path)}; nothing is written"
                " through it. Remove the link, or use --scope user"
            )
        if not stat.S_ISREG(found.st_mode):
            raise HostConfigError(f"{self.path} is no plain file; nothing was changed")
        return found

    def read(self) -> bytes | None:
        """Its bytes; None when it does not exist.

        Raises:
            HostConfigError: a link, no plain file, or too large.
        """
        if self.state() is None:
            return None
        flags = os.O_RDONLY | NOFOLLOW | NONBLOCK | CLOEXEC
        with os.fdopen(os.open(self.name, flags, dir_fd=self.handle), "rb") as file:
            data = file.read(CONFIG_BYTES + 1)
        if len(data) > CONFIG_BYTES:
            raise HostConfigError(f"{self.path} is larger than 16 MB; it was left as it is")
        return data


def read_config(path: str, inside: str | None = None) -> bytes | None:
    """The bytes of a configuration file; None when it does not exist.

    Args:
        path: absolute path.
        inside: folder that the path may not leave by a link (a project's files).

    Raises:
        HostConfigError: a link, no plain file, not readable, or too large.
    """
    try:
        with spot(path, inside) as found:
            return found.read()
    except FileNotFoundError:
        return None


@contextmanager
def spot(path: str, inside: str | None = None, *, make: bool = False) -> Iterator[Spot]:
    """Open the folder of a file, without being led outside of `inside`.

    With `make`, missing folders are made.

    Raises:
        FileNotFoundError: the folder is missing.
        HostConfigError: a link on the way, or a folder that can't be used.
    """
    try:
        if inside is None:
            real = _own_place(Path(path), make)
            with opened_dir(real.parent) as handle:
                yield Spot(real, handle)
            return
        root = Path(os.path.realpath(inside))
        steps = os.path.relpath(path, inside)
        if os.pardir in Path(steps).parts:
            raise HostConfigError(f"{path} is outside of {inside}; nothing was written")
        real = root / steps
        with opened_inside(root, real.parent, make=make) as handle:
            yield Spot(real, handle)
    except FileNotFoundError:
        raise
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise HostConfigError(f"{path}: {reason}; nothing was changed there") from error


def _own_place(path: Path, make: bool) -> Path:
    """Where a file of the user's really lies: one link is followed, to a file of his."""
    if make:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.is_symlink():
        return Path(os.path.realpath(path.parent), path.name)
    target = Path(path.parent, os.readlink(path))
    try:
        found = target.lstat()
    except OSError as error:
        raise HostConfigError(
            f"{path} is a link to {target}, which can't be reached ({error.strerror});"
            " nothing was written"
        ) from error
    if not stat.S_ISREG(found.st_mode) or not _mine(found):
        raise HostConfigError(
            f"{path} is a link to {target}, which is no plain file of yours;"
            " nothing was written"
        )
    return Path(os.path.realpath(target.parent), target.name)


def _mine(found: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
