"""Vectors as they are stored: 256 or so whole numbers from -127 to 127, and their signs."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

TOP = 127


def packed(vector: Sequence[float]) -> bytes | None:
    """A vector scaled into bytes; None for one without a direction."""
    largest = max(map(abs, vector), default=0)
    if not largest or not math.isfinite(largest):
        return None
    scale = TOP / largest
    return array("b", map(round, [value * scale for value in vector])).tobytes()


def signs(vector: bytes) -> bytes:
    """One bit for each number, set where it is above zero."""
    above = vector.translate(_ABOVE)
    return int(above, 2).to_bytes((len(vector) + 7) // 8, "little")


_ABOVE = bytes(ord("1") if 0 < value < 128 else ord("0") for value in range(256))
