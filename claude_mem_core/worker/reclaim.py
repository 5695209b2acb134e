"""Ending another worker: asked first, signalled only when it is surely ours.

A signal goes out only if the lock is held, the holder named itself in the lock file,
and a process of that pid and start time runs as us. Pid files of strangers, of former
workers or of other data directories never lead to one.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

from claude_mem_core.errors import MemError
from claude_mem_core.paths import Paths
from claude_mem_core.worker import heartbeat
from claude_mem_core.worker.ask import ask
from claude_mem_core.worker.identity import Identity, is_running
from claude_mem_core.worker.lock import holder, wait_free

ANSWER_S = 3.0
DRAIN_S = 10.0
TERM_S = 5.0
KILL_S = 3.0


def holding(paths: Paths) -> Identity | None:
    """The process that surely is the worker of this data directory."""
    held, process = holder(paths.lock)
    if not held or process is None or not is_running(process):
        return None
    return process if _holds(process.pid, paths.lock) else None


def _holds(pid: int, path: Path) -> bool:
    """Whether the system names `pid` as the holder; True where it does not say."""
    try:
        inode = f":{os.stat(path).st_ino}"
        rows = Path("/proc/locks").read_text("ascii").splitlines()
    except OSError:
        return True
    holders = [row.split() for row in rows if " FLOCK " in row and "->" not in row]
    ours = [f for f in holders if len(f) > 5 and f[5].endswith(inode)]
    # In a container the list may be empty or hold outer pids (0 or foreign numbers).
    return not ours or any(f[4] in {str(pid), "0"} for f in ours)


def stop(paths: Paths, *, reason: str = "") -> bool:
    """Ask the worker to go, then insist; True once the lock is free."""
    if not holder(paths.lock)[0]:
        return True
    target = "/api/admin/shutdown" + (f"?reason={reason}" if reason else "")
    try:
        asked = ask(paths, "POST", target, b"{}", timeout=ANSWER_S).status == 200
    except MemError:
        asked = False
    if asked and wait_free(paths.lock, DRAIN_S):
        return True
    return end(paths)


def end(paths: Paths) -> bool:
    """Signal the worker, first kindly; True once the lock is free."""
    for number, seconds in ((signal.SIGTERM, TERM_S), (_kill_signal(), KILL_S)):
        process = holding(paths)
        if process is None:
            return wait_free(paths.lock, 0.1)
        try:
            os.kill(process.pid, number)
        except ProcessLookupError:
            pass
        except PermissionError:
            return False
        if wait_free(paths.lock, seconds):
            return True
    return False


def _kill_signal() -> signal.Signals:
    return getattr(signal, "SIGKILL", signal.SIGTERM)


def from_wedged(paths: Paths) -> bool:
    """End a worker that holds the lock but neither answers nor moves."""
    seen = heartbeat.last(paths)
    if not heartbeat.is_wedged(seen, heartbeat.LEAST_STALE_MS):
        return False  # the usual case: settled without reading any settings
    if not heartbeat.is_wedged(seen, _stale_ms(paths)) or _answers(paths):
        return False
    if seen is None and not _is_old(paths):
        return False  # just starting: its first heartbeat is on its way
    return end(paths)


def _stale_ms(paths: Paths) -> int:
    from claude_mem_core.settings import SettingsSource

    value = SettingsSource(paths).current()["CLAUDE_MEM_WORKER_HEARTBEAT_STALE_MS"]
    return int(value)


def _answers(paths: Paths) -> bool:
    try:
        return ask(paths, "GET", "/api/health", timeout=ANSWER_S).status == 200
    except MemError:
        return False


def _is_old(paths: Paths) -> bool:
    """Whether the lock was taken longer ago than a heartbeat may be missing."""
    import time

    try:
        return time.time() - paths.lock.stat().st_mtime > heartbeat.STALE_MS / 1000
    except OSError:
        return False
