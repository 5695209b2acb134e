"""A small file, fresh every 5 s, that tells others whether the worker still moves."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import attrs

from claude_mem_core.paths import Paths
from claude_mem_core.worker.identity import small_file

if TYPE_CHECKING:  # it takes asyncio along, and commands ask for a beat too
    from claude_mem_core.worker.state import WorkerState

EVERY_S = 5.0
STALE_MS = 120_000
LEAST_STALE_MS = 10_000  # the setting goes no lower
NO_REPLY_S = 600.0


@attrs.frozen
class Beat:
    """What a heartbeat file said; `age_ms` by the wall clock."""

    pid: int
    age_ms: int
    waiting_s: float
    quiet_s: float


def beat(state: WorkerState) -> None:
    """Write the file anew. In place: a lost heartbeat is no loss, an fsync would be."""
    value = {
        "pid": state.pid,
        "start_id": state.start_id,
        "version": state.version,
        "at_ms": time.time_ns() // 1_000_000,
        "waiting_s": round(state.oldest_waiting_s, 1),
        "quiet_s": round(time.monotonic() - state.last_reply, 1),
        "requests": state.requests,
    }
    state.paths.heartbeat.write_bytes(json.dumps(value).encode())


def last(paths: Paths) -> Beat | None:
    """The newest heartbeat; None when there is no readable one."""
    try:
        value: Any = json.loads(small_file(paths.heartbeat))
        age = time.time_ns() // 1_000_000 - int(value["at_ms"])
        return Beat(int(value["pid"]), age, float(value["waiting_s"]), float(value["quiet_s"]))
    except (ValueError, TypeError, KeyError):
        return None


def is_wedged(seen: Beat | None, stale_ms: int = STALE_MS) -> bool:
    """Whether a worker that did not answer may be ended.

    It is spared while its heartbeat is fresh, unless a request has been waiting and no
    reply was finished for ten minutes.
    """
    if seen is None or seen.age_ms > stale_ms or seen.age_ms < -stale_ms:
        return True
    return seen.waiting_s > NO_REPLY_S and seen.quiet_s > NO_REPLY_S
