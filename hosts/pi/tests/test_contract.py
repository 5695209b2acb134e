from __future__ import annotations

from pathlib import Path

from claude_mem_core.testing import HostContract, InstallerContract, McpContract
from claude_mem_core.testing.dirty import JSON_SERVERS
from claude_mem_core.types import EventKind

HERE = Path(__file__).parent


class TestPi(HostContract):
    plugin = "host.pi"
    payloads = HERE / "examples"
    kinds = frozenset(
        {
            EventKind.SESSION_STARTED,
            EventKind.PROMPT_SENT,
            EventKind.TOOL_USED,
            EventKind.TURN_ENDED,
            EventKind.SESSION_ENDED,
        }
    )


class TestPiInstaller(InstallerContract):
    plugin = "host.pi"
    config = ".omp/agent/extensions/claude-mem.js"
    # The file is ours alone: one of somebody else's is left as it is.
    unreadable = (b"", b"export default function mine(pi) {}\n", b"\xff")


class TestPiMcp(McpContract):
    plugin = "host.pi"
    config = ".omp/agent/mcp.json"
    contents = JSON_SERVERS
    unreadable = (b"{", b"[]", b'{"mcpServers": []}')
