from __future__ import annotations

from pathlib import Path

from claude_mem_core.testing import HostContract, InstallerContract, McpContract
from claude_mem_core.types import EventKind

HERE = Path(__file__).parent


class TestOpenCode(HostContract):
    plugin = "host.opencode"
    payloads = HERE / "examples"
    kinds = frozenset(
        {
            EventKind.SESSION_STARTED,
            EventKind.PROMPT_SENT,
            EventKind.TOOL_USED,
            EventKind.TURN_ENDED,
            EventKind.SUBAGENT_ENDED,
        }
    )


class TestOpenCodeInstaller(InstallerContract):
    plugin = "host.opencode"
    config = ".config/opencode/plugins/claude-mem.js"
    # The file is ours alone: one of somebody else's is left as it is.
    unreadable = (b"", b"export const Mine = async () => ({})\n", b"\xff")


class TestOpenCodeMcp(McpContract):
    plugin = "host.opencode"
    config = ".config/opencode/opencode.json"
    contents = (
        b"{}",
        b'{"mcp": {}}',
        b'{\n  // mine\n  "mcp": {\n    "docs": {"type": "local", "command": ["docs"]}\n  },\n}\n',
    )
    unreadable = (b"{", b"[]", b'{"mcp": []}')
