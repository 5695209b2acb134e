"""The signs of all vectors in memory: the nearest of a whole store in one pass.

They stand in planes: the first byte of every record side by side, then the second, and so
on. A plane is compared by one translation and added as one whole number, a byte for each
record, which is what Python does fastest: 100,000 records take 5 ms. Takes 40 bytes a
record, and only while it is used.
"""

from __future__ import annotations

import re
import threading
import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate

import attrs

from claude_mem_core.types import DocKind
from claude_mem_search_vector.texts import record_of

BITS = 255  # signs that are compared: differences have to fit in a byte
_PLANES = 32
_LAST = 0x7F  # what counts of the last plane
_SAMPLED = 2_000
UNUSED_S = 900.0

Row = tuple[int, int, bytes | None]


def cut(signs: bytes) -> bytes:
    """As many signs as are compared."""
    first = signs[:_PLANES].ljust(_PLANES, b"\0")
    return first[:-1] + bytes([first[-1] & _LAST])


@attrs.define
class _Part:
    """The records of one project and kind, by number."""

    numbers: array[int] = attrs.field(factory=lambda: array("q"))
    planes: list[bytearray] = attrs.field(factory=lambda: [bytearray() for _ in range(_PLANES)])

    @classmethod
    def of(cls, numbers: array[int], signs: bytearray) -> _Part:
        """Records in order of their numbers, their signs in a row."""
        return cls(numbers, [signs[place::_PLANES] for place in range(_PLANES)])

    def put(self, number: int, signs: bytes) -> None:
        at = bisect_left(self.numbers, number)
        known = self._is_at(at, number)
        if not known:
            self.numbers.insert(at, number)
        for plane, byte in zip(self.planes, signs, strict=True):
            plane[at : at + known] = (byte,)

    def drop(self, number: int) -> None:
        at = bisect_left(self.numbers, number)
        if self._is_at(at, number):
            del self.numbers[at]
            for plane in self.planes:
                del plane[at]

    def _is_at(self, at: int, number: int) -> bool:
        return at < len(self.numbers) and self.numbers[at] == number

    def differing(self, wanted: bytes) -> bytes:
        """In how many signs each record differs, a byte each."""
        total = 0
        for plane, byte in zip(self.planes, wanted, strict=True):
            total += int.from_bytes(plane.translate(_apart(byte)), "little")
        return total.to_bytes(len(self.numbers), "little")


@lru_cache(256)
def _apart(wanted: int) -> bytes:
    """For every byte, in how many bits it differs from this one."""
    return bytes((byte ^ wanted).bit_count() for byte in range(256))


class Scan:
    """Signs by project and kind. Loaded when first asked, dropped when long unused."""

    def __init__(self) -> None:
        self._parts: dict[tuple[int, DocKind], _Part] | None = None
        self._lock = threading.RLock()
        self._used = 0.0

    def load(self, rows: Iterable[Row]) -> None:
        """Take all rows, which come in order of their numbers, unless they are there."""
        with self._lock:
            if self._parts is None:
                self._parts = _gathered(rows)

    @property
    def loaded(self) -> bool:
        """Whether it can be asked."""
        return self._parts is not None

    @property
    def lock(self) -> threading.RLock:
        """Held while loading, so that no change is missed."""
        return self._lock

    def change(self, put: Iterable[Row], dropped: Iterable[int]) -> None:
        """Follow what was written to the table."""
        with self._lock:
            if self._parts is None:
                return
            for number in dropped:
                kind = record_of(number)[0]
                for (_, of), part in self._parts.items():
                    if of is kind:
                        part.drop(number)
            self._put(put)

    def _put(self, rows: Iterable[Row]) -> None:
        assert self._parts is not None
        for number, project, signs in rows:
            if signs is not None:
                key = project, record_of(number)[0]
                self._parts.setdefault(key, _Part()).put(number, cut(signs))

    def forget(self, *, unused_only: bool = False) -> None:
        """Give the memory back."""
        with self._lock:
            if not unused_only or time.monotonic() - self._used > UNUSED_S:
                self._parts = None

    def nearest(
        self, signs: bytes, most: int, kinds: Collection[DocKind],
        projects: Collection[int] | None,
    ) -> list[int]:  # fmt: skip
        """About `most` records with the fewest differing signs, the nearest first."""
        with self._lock:
            self._used = time.monotonic()
            parts = [
                part
                for (project, kind), part in (self._parts or {}).items()
                if kind in kinds and (projects is None or project in projects)
            ]
            apart = b"".join(part.differing(cut(signs)) for part in parts)
            return _numbers(parts, _least(apart, most)) if apart else []


def _gathered(rows: Iterable[Row]) -> dict[tuple[int, DocKind], _Part]:
    """Rows by project and kind."""
    found: dict[tuple[int, DocKind], tuple[array[int], bytearray]] = {}
    for number, project, signs in rows:
        if signs is not None:
            key = project, record_of(number)[0]
            numbers, joined = found.setdefault(key, (array("q"), bytearray()))
            numbers.append(number)
            joined += cut(signs)
    return {key: _Part.of(*found.pop(key)) for key in list(found)}


def _least(apart: bytes, most: int) -> list[int]:
    """Where the about `most` smallest values stand, judged by a sample."""
    sample = sorted(apart[:: max(1, len(apart) // _SAMPLED)])
    share = min(len(sample) - 1, most * len(sample) // len(apart))
    pattern = re.compile(b"[\\x00-\\x%02x]" % sample[share], re.DOTALL)
    places = [match.start() for match in pattern.finditer(apart)]
    return sorted(places, key=apart.__getitem__)[: 2 * most]


def _numbers(parts: Sequence[_Part], places: Iterable[int]) -> list[int]:
    """The records at places of the joined parts."""
    ends = list(accumulate(len(part.numbers) for part in parts))
    found = []
    for place in places:
        which = bisect_right(ends, place)
        numbers = parts[which].numbers
        found.append(numbers[place - ends[which] + len(numbers)])
    return found
