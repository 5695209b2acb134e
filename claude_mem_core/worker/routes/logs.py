"""The log of the day, for people who look at it in a page or on the command line."""

from __future__ import annotations

from typing import Any

from claude_mem_core.worker import logs
from claude_mem_core.worker.spec import OBJECT, Call, Endpoint, Right, integer

MOST = 10_000


async def read(call: Call) -> dict[str, Any]:
    """The newest lines."""
    folder = call.services.paths.logs
    path = logs.log_file(folder)
    lines, total = logs.tail(folder, min(call.params["lines"], MOST))
    return {
        "logs": "\n".join(lines), "path": str(path), "exists": path.exists(),
        "totalLines": total, "returnedLines": len(lines),
    }


async def clear(call: Call) -> dict[str, Any]:
    """Empty the log of the day."""
    path = logs.log_file(call.services.paths.logs)
    if path.exists():
        with path.open("r+b") as file:
            file.truncate(0)
    return {"success": True, "message": "the log of today is empty", "path": str(path)}


ENDPOINTS = (
    Endpoint(
        "GET", "/api/logs", read, "Newest lines of the log",
        params=(integer("lines", default=1000, low=1, help=f"at most {MOST} are given"),),
        answers={200: OBJECT}, area="logs",
    ),
    Endpoint(
        "POST", "/api/logs/clear", clear, "Empty the log of today",
        body=OBJECT, body_optional=True, answers={200: OBJECT}, right=Right.FULL, area="logs",
    ),
)
