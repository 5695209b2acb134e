"""The one clock of the pipeline: integer milliseconds since the epoch."""

from __future__ import annotations

import time


def now_ms() -> int:
    """Now."""
    return time.time_ns() // 1_000_000
