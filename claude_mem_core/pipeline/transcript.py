"""A host's transcript, read for one thing: the final answer that its stop event lacks.

The path comes out of a payload, so it is data: it is opened only below the host's own
roots, step by step without following a link, only if it is a plain file, never waiting,
and only its end is read. What the lines mean is the host adapter's business.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO

from claude_mem_core.errors import InvalidInput
from claude_mem_core.types import Event, Host, HostAdapter, ReadsTranscript

TAIL = 1 << 20  # bytes; a turn's last words stand at the end
BY_HANDLE = os.open in os.supports_dir_fd  # not on Windows
VARIABLE = re.compile(r"^\$([A-Z][A-Z0-9_]*)")


def final_answer(
    record: Host, adapter: HostAdapter, event: Event, env: Mapping[str, str]
) -> str | None:
    """The answer that the transcript of `event` ends with; None when there is none yet.

    Raises:
        OSError: the file could not be read.
        InvalidInput: the adapter could not read the lines.
    """
    if not isinstance(adapter, ReadsTranscript):
        return None
    lines = last_lines(record, event, env)
    return None if lines is None else _asked(adapter, lines)


def last_lines(record: Host, event: Event, env: Mapping[str, str]) -> list[bytes] | None:
    """The last lines of the event's transcript; None when it is none that may be read.

    Raises:
        OSError: the file could not be read.
    """
    for root in roots_of(record, env) if event.transcript else ():
        inner = below(root, event.transcript or "")
        lines = tail(root, inner) if inner else None
        if lines is not None:
            return lines
    return None


def _asked(adapter: ReadsTranscript, lines: Sequence[bytes]) -> str | None:
    try:
        return adapter.final_answer(lines)
    except Exception as error:
        raise InvalidInput(f"the transcript's reader failed: {type(error).__name__}") from error


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


def tail(root: str, steps: Sequence[str]) -> list[bytes] | None:
    """The last lines of the file; None when there is no such plain file.

    Raises:
        OSError: it is there and can't be read.
    """
    try:
        opened = _open(os.path.realpath(root), steps)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        return None
    with os.fdopen(opened, "rb") as file:
        return _last_lines(file)


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


def _last_lines(file: BinaryIO) -> list[bytes]:
    size = file.seek(0, os.SEEK_END)
    start = max(0, size - TAIL)
    file.seek(start)
    lines = file.read(TAIL).split(b"\n")
    return lines[1:] if start else lines  # the first one is cut
