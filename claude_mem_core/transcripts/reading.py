"""The records of a transcript: lines, a document, or the rows of a database.

What comes is bounded: a longer line is passed over, so is one that is nested deeper than
anything sensible. A line without its end is not read yet.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import attrs

from claude_mem_core.convert import json_loads_bounded
from claude_mem_core.errors import InvalidInput
from claude_mem_core.transcripts.finding import Found
from claude_mem_core.transcripts.places import below, open_below
from claude_mem_core.types import Event, TranscriptFile, TranscriptReader

LONGEST = 16 << 20  # bytes of one line
DOCUMENT = 64 << 20
BESIDE = 64 << 10
PIECE = 1 << 20
HEAD, TAIL = 256 << 10, 4 << 20

Record = Mapping[str, Any]


@attrs.frozen
class Line:
    """A whole line: its record, None when it is none, and where the next one begins."""

    record: Record | None
    end: int


def reader_of(found: Found) -> TranscriptReader:
    """A new reader for a transcript."""
    beside = {name: _beside(found, name) for name in found.form.beside}
    return found.form.open(TranscriptFile(path=found.path, beside=beside))


def records_of(found: Found, work: Path) -> Iterator[Record]:
    """All records of a transcript; `work` is where a database may be copied.

    Raises:
        OSError: it can't be read.
        InvalidInput: it is no document, or no database.
    """
    if found.form.form == "database":
        yield from _rows(found, work)
        return
    opened = open_below(found.root, found.steps)
    if opened is None:
        return
    with os.fdopen(opened, "rb") as file:
        if found.form.form == "document":
            yield _object(json_loads_bounded(file.read(DOCUMENT + 1), DOCUMENT))
        else:
            yield from (line.record for line in lines_of(file) if line.record is not None)


def lines_of(file: BinaryIO, start: int = 0) -> Iterator[Line]:
    """The whole lines of a file from `start` on; the last one, if unfinished, is left."""
    file.seek(start)
    at, kept, lost = start, b"", False
    while piece := file.read(PIECE):
        *whole, kept_now = (kept + piece).split(b"\n")
        for raw in whole:
            # What was thrown away of a line that is too long is counted all the same.
            at += len(raw) + 1
            yield Line(None if lost else _record(raw), at)
            lost = False
        if len(kept_now) > LONGEST:
            at, kept_now, lost = at + len(kept_now), b"", True
        kept = kept_now


def ends_of(found: Found) -> list[Event]:
    """What the end of a transcript of lines tells; of a long one its head is read as well.

    Raises:
        OSError: it can't be read.
    """
    opened = open_below(found.root, found.steps)
    if opened is None:
        return []
    reader, events = reader_of(found), list[Event]()
    with os.fdopen(opened, "rb") as file:
        for line in _head_and_tail(file):
            events += reader.read(line.record) if line.record is not None else ()
    return [*events, *reader.rest()]


def _head_and_tail(file: BinaryIO) -> Iterator[Line]:
    """All lines; of a file over `TAIL` bytes those at its start and at its end."""
    size = file.seek(0, os.SEEK_END)
    if size <= TAIL + HEAD:
        yield from lines_of(file)
        return
    for line in lines_of(file):
        yield line
        if line.end > HEAD:
            break
    for number, line in enumerate(lines_of(file, size - TAIL)):
        if number:  # the first one is cut
            yield line


def _record(raw: bytes) -> Record | None:
    if not raw.strip() or len(raw) > LONGEST:
        return None
    try:
        return _object(json_loads_bounded(raw, LONGEST))
    except InvalidInput:
        return None


def _object(value: Any) -> Record:
    if not isinstance(value, Mapping):
        raise InvalidInput("not an object")
    return value


def _rows(found: Found, work: Path) -> Iterator[Record]:
    """The rows of the wanted tables of a copy; a database without one of them gives none."""
    from claude_mem_core.store.imports.source import opened

    wanted = found.form.tables
    with opened(Path(found.path), work) as source:
        if not wanted.keys() <= source.tables.keys():
            return
        for table, columns in wanted.items():
            names = {column: (column,) for column in columns}
            for row in source.rows(table, names):
                yield {**row, "table": table}


def _beside(found: Found, name: str) -> bytes:
    """A small file at a place relative to the transcript's folder; empty when not there."""
    path = os.path.join(os.path.dirname(found.path), name)
    steps = below(found.root, os.path.normpath(path))
    try:
        opened = open_below(found.root, steps) if steps else None
    except OSError:
        return b""
    if opened is None:
        return b""
    with os.fdopen(opened, "rb") as file:
        return file.read(BESIDE)
