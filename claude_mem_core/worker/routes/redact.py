"""Secrets in what is stored already."""

from __future__ import annotations

from typing import Any

from claude_mem_core.clean.cleaner import CleaningFailed
from claude_mem_core.forgetting import sweep
from claude_mem_core.worker.spec import ERROR, OBJECT, Call, Endpoint, Refused, record


async def scan(call: Call) -> dict[str, Any]:
    """How many secrets the present patterns find in what is stored, and where; no bytes."""
    return await _done(call, write=False)


async def take_out(call: Call) -> dict[str, Any]:
    """Put a marker in the place of each; snapshots are worked over too. No undo."""
    return await _done(call, write=True)


async def _done(call: Call, *, write: bool) -> dict[str, Any]:
    work = sweep.take_out if write else sweep.scan
    try:
        found = await work(call.services)
    except CleaningFailed as error:
        raise Refused(503, str(error)) from None
    return {
        "swept": write,
        "patterns": dict(found.found.patterns),
        "rows": dict(found.found.rows),
        "where": list(found.found.where),
        "files": [one.path for one in found.files],
        "unread": list(found.unread),
    }


ANSWER = record(
    {
        "swept": {"type": "boolean"}, "patterns": OBJECT, "rows": OBJECT,
        "where": {"type": "array"}, "files": {"type": "array"}, "unread": {"type": "array"},
    },
    "swept", "patterns", "rows", "where", "files", "unread",
)  # fmt: skip
ENDPOINTS = (
    Endpoint(
        "GET", "/api/redact/scan", scan, "Count the secrets in what is stored",
        answers={200: ANSWER, 503: ERROR}, area="memory",
    ),
    Endpoint(
        "POST", "/api/redact/sweep", take_out, "Take the secrets out of what is stored",
        body=OBJECT, body_optional=True, answers={200: ANSWER, 503: ERROR}, area="memory",
    ),
)  # fmt: skip
