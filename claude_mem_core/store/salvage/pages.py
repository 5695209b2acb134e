"""The pages of a database file and of its write-ahead log, each in its newest state."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from pathlib import Path

from claude_mem_core.files import open_regular

MAGIC = b"SQLite format 3\0"
OURS = 4096  # the page size of every database we make
LARGEST = 1 << 40
SIZES = frozenset(1 << power for power in range(9, 17))

WAL_HEADER, FRAME_HEADER = 32, 24
WAL_MAGIC = 0x377F0682  # the lowest bit tells the byte order of the checksums
WORD = 0xFFFFFFFF


class Broken(Exception):
    """This part of the file does not make sense."""


class Pages:
    """Pages by number, from 1. A page that lies behind the end of the file is missing."""

    def __init__(self, path: Path) -> None:
        self._map = _mapped(path)
        self.size, self.reserved = _page_size(self._map[:100])
        self._newest = dict(committed(_log(path), self.size))
        inside = -(-len(self._map) // self.size)
        self.count = max([inside, *self._newest])

    def page(self, number: int) -> bytes:
        """One whole page.

        Raises:
            Broken: there is no such page.
        """
        newest = self._newest.get(number)
        if newest is not None:
            return newest
        end = number * self.size
        if number < 1 or end > len(self._map):
            raise Broken
        return self._map[end - self.size : end]

    @property
    def usable(self) -> int:
        """Bytes of a page that hold content."""
        return self.size - self.reserved

    def free(self) -> set[int]:
        """Pages that hold nothing, as far as the list of them can be followed."""
        found: set[int] = set()
        try:
            trunk = number(self.page(1), 32)
            while trunk and trunk not in found:
                found.add(trunk)
                page = self.page(trunk)
                leaves = min(number(page, 4), self.usable // 4 - 2)
                found.update(number(page, 8 + 4 * i) for i in range(leaves))
                trunk = number(page, 0)
        except Broken:
            pass
        return found


def number(data: bytes, at: int) -> int:
    """The four-byte number at a place."""
    return int.from_bytes(data[at : at + 4])


def _mapped(path: Path) -> mmap.mmap | bytes:
    """The file's bytes without reading them all; the mapping outlives the handle."""
    with open_regular(path, LARGEST) as file:
        if os.fstat(file.fileno()).st_size == 0:
            return b""
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _page_size(header: bytes) -> tuple[int, int]:
    """Page size and reserved bytes; those of our own files when the header is gone."""
    size = int.from_bytes(header[16:18])
    size = 65_536 if size == 1 else size
    if not header.startswith(MAGIC) or size not in SIZES or header[20] > size - 480:
        return OURS, 0
    return size, header[20]


def _log(path: Path) -> bytes:
    log = path.with_name(path.name + "-wal")
    if not log.is_file():
        return b""
    with open_regular(log, LARGEST) as file:
        return file.read()


def committed(log: bytes, size: int) -> Iterator[tuple[int, bytes]]:
    """Pages of a write-ahead log up to its last commit; later ones come later."""
    waiting: list[tuple[int, bytes]] = []
    for page_number, commits, page in _frames(log, size):
        waiting.append((page_number, page))
        if commits:
            yield from waiting
            waiting.clear()


def is_log(header: bytes) -> bool:
    """Whether a write-ahead log begins as SQLite writes them."""
    return len(header) >= WAL_HEADER and _begun(header) is not None


def _begun(log: bytes) -> tuple[str, tuple[int, int]] | None:
    """Byte order and first sums, when the header is right."""
    magic = number(log, 0)
    if magic | 1 != WAL_MAGIC | 1:
        return None
    order = ">" if magic & 1 else "<"
    sums = checksum(log[:24], (0, 0), order)
    return (order, sums) if sums == (number(log, 24), number(log, 28)) else None


def _frames(log: bytes, size: int) -> Iterator[tuple[int, int, bytes]]:
    """Each valid frame: page, size of the database after it if it commits, content."""
    begun = _begun(log) if len(log) >= WAL_HEADER else None
    if begun is None or number(log, 8) not in {size, 1 if size == 65_536 else size}:
        return
    order, sums = begun
    for at in range(WAL_HEADER, len(log) - FRAME_HEADER - size + 1, FRAME_HEADER + size):
        head, page = log[at : at + FRAME_HEADER], log[at + FRAME_HEADER :][:size]
        sums = checksum(page, checksum(head[:8], sums, order), order)
        if head[8:16] != log[16:24] or sums != (number(head, 16), number(head, 20)):
            return
        yield number(head, 0), number(head, 4), page


def checksum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    """SQLite's running sums over pairs of words."""
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for one, two in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & WORD
        second = (second + two + first) & WORD
    return first, second
