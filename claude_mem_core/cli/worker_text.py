"""Words for the state of the worker, shared by the commands that show it."""

from __future__ import annotations

import time
from typing import Any


def started_line(health: dict[str, Any], *, fresh: bool) -> str:
    """One line: whether it was started now, its pid, its version, its port."""
    what = "worker started" if fresh else "worker is running"
    port = f", http://127.0.0.1:{health['port']}" if health.get("port") else ""
    return f"{what}: pid {health.get('pid')}, version {health.get('version')}{port}"


def duration(seconds: float) -> str:
    """A duration in its two largest units."""
    whole = int(seconds)
    units = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
    parts = []
    for name, size in units:
        count, whole = divmod(whole, size)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2]) or "0 s"


def ago(at_ms: int) -> str:
    """How long ago a time was."""
    return duration(max(0.0, time.time() - at_ms / 1000)) + " ago"


def size(count: int) -> str:
    """A number of bytes for people."""
    amount = float(count)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
