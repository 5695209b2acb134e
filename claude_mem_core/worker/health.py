"""Health as the worker tells it to those who have proved themselves."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from claude_mem_core.worker.state import WorkerState

if TYPE_CHECKING:
    from claude_mem_core.pipeline.services import Services


def health(state: WorkerState, services: Services | None) -> dict[str, Any]:
    """The documented superset. `status` is `ok`, `degraded` or `starting`."""
    fault = services.registry.recording_fault() if services else None
    notes = dict(state.notes)
    if fault:
        notes["recording"] = fault
    status = "starting" if services is None else "degraded" if notes else "ok"
    return {
        "status": status,
        "version": state.version,
        "pid": state.pid,
        "port": state.tcp.port,
        "uptime": state.uptime_s,
        "started_ms": state.started_ms,
        "start_id": state.start_id,
        "platform": sys.platform,
        "initialized": services is not None,
        "recording": fault is None and services is not None,
        "mcpReady": True,
        "requests": state.requests,
        "refused": state.refused,
        "sseClients": state.streams,
        "notes": notes,
    }
