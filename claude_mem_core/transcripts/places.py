"""Where a host's transcripts may lie, and how a file there is opened.

A path may come out of a payload, so it is data: a file is opened only below the host's
own roots, step by step without following a link, only if it is plain, never waiting.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence

from claude_mem_core.types import Host

BY_HANDLE = os.open in os.supports_dir_fd  # not on Windows
VARIABLE = re.compile(r"^\$([A-Z][A-Z0-9_]*)")


def roots_of(record: Host, env: Mapping[str, str]) -> Iterator[str]:
    """The folders that the host's record names, as they are here; unset ones left out."""
    for root in record.transcript_roots:
        found = VARIABLE.match(root)
        if found:
            value = env.get(found[1]) or os.environ.get(found[1]) or ""
            root = value + root[found.end() :] if os.path.isabs(value) else ""
        if root:
            yield os.path.expanduser(root)


def below(root: str, path: str) -> list[str] | None:
    """The steps from `root` to `path`, by name alone; None when it is not inside.

    A relative path is one that the adapter made, to be looked for below each root.
    """
    if "\0" in path or path.startswith(("//", "\\\\", "~")):
        return None
    whole = os.path.normpath(os.path.join(root, path))
    for start in (root, os.path.realpath(root)):
        inner = os.path.relpath(whole, start).split(os.sep)
        if inner[0] not in {os.curdir, os.pardir}:
            return inner
    return None


def open_below(root: str, steps: Sequence[str]) -> int | None:
    """A handle of the plain file at `steps` below `root`; None when there is no such file.

    Raises:
        OSError: it is there and can't be read, or a link is on the way.
    """
    try:
        opened = _open(os.path.realpath(root), steps)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        return None
    return opened


def _open(root: str, steps: Iterable[str]) -> int:
    """Open step by step from `root`; a link on the way is an OSError."""
    *folders, name = steps
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    if not BY_HANDLE:
        return os.open(os.path.join(root, *folders, name), flags)
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for step in folders:
            inner = os.open(step, flags | os.O_DIRECTORY, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(name, flags, dir_fd=folder)
    finally:
        os.close(folder)
