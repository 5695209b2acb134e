"""Which process: a pid alone is a number that anybody may get next.

A process is named by its pid and the moment it started, both read from the system.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import attrs

MOST_BYTES = 4096
_PID_LIMIT = 1 << 31


@attrs.frozen
class Identity:
    """A process, for good: `start` differs for the next one of the same pid."""

    pid: int
    start: str
    version: str = ""
    start_id: str = ""

    def to_bytes(self) -> bytes:
        """One line of JSON, as the pid file and the lock file hold it."""
        return json.dumps(attrs.asdict(self)).encode() + b"\n"


def current(version: str, start_id: str) -> Identity:
    """This process."""
    pid = os.getpid()
    return Identity(pid, started_at(pid) or "", version, start_id)


def parse(data: bytes) -> Identity | None:
    """The process that a pid or lock file names; None for anything odd."""
    try:
        value: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    pid, start = value.get("pid"), value.get("start")
    if type(pid) is not int or not 1 < pid < _PID_LIMIT or not isinstance(start, str):
        return None
    texts = (value.get(name, "") for name in ("version", "start_id"))
    return Identity(pid, start, *(str(text)[:100] for text in texts))


def read(path: Path) -> Identity | None:
    """The process named in a file; links are not followed, devices not opened."""
    return parse(small_file(path))


def small_file(path: Path) -> bytes:
    """The beginning of one of our small files; nothing for anything else that is there."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        fd = os.open(path, flags)
        try:
            return os.read(fd, MOST_BYTES)
        finally:
            os.close(fd)
    except OSError:
        return b""


def started_at(pid: int) -> str | None:
    """When a process started, as an opaque word; None when there is no such process."""
    if sys.platform == "linux":
        return _started_linux(pid)
    if sys.platform == "win32":
        return None
    return _started_ps(pid)


def _started_linux(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return None
    # The name in parentheses may hold anything; fields are counted from its end.
    ticks = stat.rpartition(b")")[2].split()[19].decode("ascii")
    return f"{boot[:13]}:{ticks}"


def _started_ps(pid: int) -> str | None:
    import subprocess

    argv = ["/bin/ps", "-o", "lstart=", "-p", str(pid)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=5, check=False)
    return done.stdout.strip() or None


def owner(pid: int) -> int | None:
    """User id of a running process, where the system tells."""
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return None


def is_running(process: Identity) -> bool:
    """Whether that very process still runs, as ours."""
    if not process.start or started_at(process.pid) != process.start:
        return False
    if sys.platform != "linux":
        return True
    # A process that forbids tracing shows root as its owner.
    return owner(process.pid) in {os.getuid(), 0}


def remove(path: Path) -> None:
    """Delete one of our small files, if it is there and can be deleted."""
    try:
        path.unlink()
    except OSError:
        return
