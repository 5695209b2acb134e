"""How long and how much is kept: what would go, and letting it go."""

from __future__ import annotations

from typing import Any

from claude_mem_core.forgetting import retain
from claude_mem_core.worker.spec import OBJECT, Call, Endpoint, record


async def preview(call: Call) -> dict[str, Any]:
    """What the rules would delete now."""
    return {"applied": False, **_worded(await retain.preview(call.services), call)}


async def apply(call: Call) -> dict[str, Any]:
    """Delete what the rules say now; it happens by itself every six hours."""
    return {"applied": True, **_worded(await retain.keep_within(call.services), call)}


def _worded(kept: retain.Kept, call: Call) -> dict[str, Any]:
    settings = call.services.settings.current()
    return {
        "rules": list(settings["CLAUDE_MEM_RETENTION_RULES"]),
        "max_mb": settings["CLAUDE_MEM_RETENTION_MAX_MB"],
        "gone": dict(kept.gone),
        "before": kept.before, "after": kept.after, "over": kept.over,
    }  # fmt: skip


ANSWER = record(
    {
        "applied": {"type": "boolean"}, "rules": {"type": "array"}, "max_mb": {"type": "integer"},
        "gone": OBJECT, "before": {"type": "integer"}, "after": {"type": "integer"},
        "over": {"type": "integer"},
    },
    "applied", "rules", "gone",
)  # fmt: skip
ENDPOINTS = (
    Endpoint(
        "GET", "/api/retention", preview, "What would go by the rules of retention",
        answers={200: ANSWER}, area="memory",
    ),
    Endpoint(
        "POST", "/api/retention/apply", apply, "Let it go now", body=OBJECT, body_optional=True,
        answers={200: ANSWER}, area="memory",
    ),
)  # fmt: skip
