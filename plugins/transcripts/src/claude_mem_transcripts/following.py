"""One transcript that is followed: what is new in it, over restarts and rotation.

A reader keeps state between lines (a tool's call waits for its result), so after a
restart the lines before the mark are read once more, silently.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import BinaryIO

import attrs

from claude_mem_core.transcripts import Found, lines_of, open_below, reader_of
from claude_mem_core.types import Event, TranscriptReader
from claude_mem_transcripts.state import HEAD, Mark, head_of

SLICE = 400  # events that are handed in together


@attrs.frozen
class Pulled:
    """What was new: events, how far that is, and whether there may be more."""

    events: Sequence[Event]
    mark: Mark
    more: bool


@attrs.define
class Follower:
    """Follows one file; `mark` says what was handed in, `reader` has read as far."""

    found: Found
    mark: Mark
    reader: TranscriptReader
    _silent: int = 0  # up to here it is read without a word

    @classmethod
    def start(cls, found: Found, mark: Mark | None, *, at_end: bool) -> Follower:
        """Follow a file from its mark; a new one from its start, or from its present end."""
        if mark is None:
            mark = Mark(inode=found.inode, offset=_last_end(found) if at_end else 0)
        return cls(found, mark, reader_of(found), mark.offset)

    def pull(self) -> Pulled | None:
        """The next events; None when the file is another one by now, or gone.

        Raises:
            OSError: it can't be read.
        """
        opened = open_below(self.found.root, self.found.steps)
        if opened is None:
            return None
        with os.fdopen(opened, "rb") as file:
            there = os.fstat(file.fileno())
            if not self._is_same(file, (there.st_dev, there.st_ino), there.st_size):
                return None
            return self._pulled(file)

    def rest(self) -> Pulled:
        """The end of the last turn, once nothing has come for a while."""
        return Pulled(self.reader.rest(), attrs.evolve(self.mark, rested=True), False)

    def _is_same(self, file: BinaryIO, inode: tuple[int, int], size: int) -> bool:
        mark = self.mark
        if inode != mark.inode or size < mark.offset:
            return False
        return not mark.head or head_of(file.read(HEAD), mark.offset) == mark.head

    def _pulled(self, file: BinaryIO) -> Pulled:
        self._catch_up(file)
        events: list[Event] = []
        end, more = self.mark.offset, False
        for line in lines_of(file, end):
            end = line.end
            events += self.reader.read(line.record) if line.record is not None else ()
            if len(events) >= SLICE:
                more = True
                break
        file.seek(0)
        head = head_of(file.read(HEAD), end)
        rested = self.mark.rested and end == self.mark.offset
        mark = attrs.evolve(self.mark, offset=end, head=head, rested=rested)
        return Pulled(events, mark, more)

    def _catch_up(self, file: BinaryIO) -> None:
        if not self._silent:
            return
        for line in lines_of(file):
            if line.end > self._silent:
                break
            if line.record is not None:
                self.reader.read(line.record)
        self._silent = 0


def _last_end(found: Found) -> int:
    """Where the last whole line of a file ends."""
    opened = open_below(found.root, found.steps)
    if opened is None:
        return 0
    with os.fdopen(opened, "rb") as file:
        return max((line.end for line in lines_of(file)), default=0)
