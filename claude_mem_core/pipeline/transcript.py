"""A host's transcript, read for what its hooks don't tell: an answer, or a prompt.

Only its end is read. What the lines mean is the host adapter's business.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import BinaryIO, TypeVar

from claude_mem_core.errors import InvalidInput
from claude_mem_core.transcripts.places import below, open_below, roots_of
from claude_mem_core.types import (
    Event,
    Host,
    HostAdapter,
    ReadsPrompts,
    ReadsTranscript,
)

T = TypeVar("T")

TAIL = 1 << 20  # bytes; a turn's last words stand at the end


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
    return None if lines is None else _read(lambda: adapter.final_answer(lines))


def last_prompt(
    record: Host, adapter: HostAdapter, event: Event, env: Mapping[str, str]
) -> tuple[str, str] | None:
    """Id and words of the newest prompt in the transcript of `event`. Raises likewise."""
    if not isinstance(adapter, ReadsPrompts):
        return None
    lines = last_lines(record, event, env)
    return None if lines is None else _read(lambda: adapter.last_prompt(lines))


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


def _read(reader: Callable[[], T]) -> T:
    try:
        return reader()
    except Exception as error:
        raise InvalidInput(f"the transcript's reader failed: {type(error).__name__}") from error


def tail(root: str, steps: Sequence[str]) -> list[bytes] | None:
    """The last lines of the file; None when there is no such plain file.

    Raises:
        OSError: it is there and can't be read.
    """
    opened = open_below(root, steps)
    if opened is None:
        return None
    with os.fdopen(opened, "rb") as file:
        return _last_lines(file)


def _last_lines(file: BinaryIO) -> list[bytes]:
    size = file.seek(0, os.SEEK_END)
    start = max(0, size - TAIL)
    file.seek(start)
    lines = file.read(TAIL).split(b"\n")
    return lines[1:] if start else lines  # the first one is cut
