"""Records: how SQLite packs the values of a row into bytes."""

from __future__ import annotations

import struct
from typing import Any

from claude_mem_core.store.salvage.pages import Broken

Values = tuple[Any, ...]

INT_SIZES = (0, 1, 2, 3, 4, 6, 8)
FLOAT, ZERO, ONE = 7, 8, 9
MOST_COLUMNS = 2000


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends.

    Raises:
        Broken: the data ends first.
    """
    value = 0
    for size in range(9):
        if at + size >= len(data):
            raise Broken
        byte = data[at + size]
        if size == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + size + 1
    raise Broken


def signed(value: int) -> int:
    """A 64-bit number as rowids are stored."""
    return value - (1 << 64) if value >> 63 else value


def values(record: bytes) -> Values:
    """The values of a record; text that is no UTF-8 is mended.

    Raises:
        Broken: it is no complete record.
    """
    end, at = varint(record, 0)
    if end > len(record):
        raise Broken
    kinds = []
    while at < end:
        kind, at = varint(record, at)
        kinds.append(kind)
    if at != end or len(kinds) > MOST_COLUMNS:
        raise Broken
    return _unpacked(record, end, kinds)


def _unpacked(record: bytes, at: int, kinds: list[int]) -> Values:
    found = []
    for kind in kinds:
        size = _size(kind)
        if at + size > len(record):
            raise Broken
        found.append(_value(kind, record[at : at + size]))
        at += size
    return tuple(found)


def _size(kind: int) -> int:
    if kind < len(INT_SIZES):
        return INT_SIZES[kind]
    if kind == FLOAT:
        return 8
    if kind in (ZERO, ONE):
        return 0
    if kind < 12:
        raise Broken
    return (kind - 12) // 2


def _value(kind: int, raw: bytes) -> Any:
    if kind == 0:
        return None
    if kind < len(INT_SIZES):
        return int.from_bytes(raw, signed=True)
    if kind == FLOAT:
        return struct.unpack(">d", raw)[0]
    if kind in (ZERO, ONE):
        return kind - ZERO
    return raw.decode("utf-8", "replace").replace("\0", "") if kind % 2 else raw
