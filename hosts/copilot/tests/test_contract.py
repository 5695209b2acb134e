from __future__ import annotations

from pathlib import Path

from claude_mem_core.testing import GoldenInstallerContract, HostContract, McpContract
from claude_mem_core.testing.dirty import JSON_SERVERS
from claude_mem_core.types import EventKind

HERE = Path(__file__).parent


class TestCopilot(HostContract):
    plugin = "host.copilot"
    payloads = HERE / "examples"
    kinds = frozenset(
        {
            EventKind.SESSION_STARTED,
            EventKind.PROMPT_SENT,
            EventKind.TOOL_STARTING,
            EventKind.TOOL_USED,
            EventKind.TOOL_FAILED,
            EventKind.TURN_ENDED,
            EventKind.SUBAGENT_ENDED,
            EventKind.SESSION_ENDED,
        }
    )


class TestCopilotInstaller(GoldenInstallerContract):
    plugin = "host.copilot"
    config = ".copilot/hooks/claude-mem.json"
    # The file is ours alone: one of somebody else's is left as it is.
    unreadable = (b"{}", b'{"version": 1, "hooks": {}}', b"\xff", b"")
    golden = HERE / "golden"


class TestCopilotMcp(McpContract):
    plugin = "host.copilot"
    config = ".copilot/mcp-config.json"
    contents = JSON_SERVERS
    unreadable = (b"{", b"[]", b'{"mcpServers": []}')
