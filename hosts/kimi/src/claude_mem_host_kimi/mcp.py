"""Our MCP server in Kimi Code: `mcp.json` in its folder."""

from __future__ import annotations

from typing import Any

from claude_mem_core.types import HostSetup

HOST = "kimi"


def entry(setup: HostSetup) -> dict[str, Any]:
    """The server as Kimi Code reads it."""
    program, *args = setup.mcp
    return {"command": program, "args": [*args, HOST]}
