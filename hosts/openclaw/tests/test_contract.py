from __future__ import annotations

from pathlib import Path

from claude_mem_core.testing import GoldenInstallerContract, HostContract, McpContract
from claude_mem_core.testing.dirty import JSON_CONTENTS
from claude_mem_core.types import EventKind

HERE = Path(__file__).parent


class TestOpenClaw(HostContract):
    plugin = "host.openclaw"
    payloads = HERE / "examples"
    kinds = frozenset(
        {
            EventKind.PROMPT_SENT,
            EventKind.TOOL_USED,
            EventKind.TOOL_FAILED,
            EventKind.TURN_ENDED,
            EventKind.SESSION_ENDED,
        }
    )


class TestOpenClawInstaller(GoldenInstallerContract):
    plugin = "host.openclaw"
    config = ".openclaw/openclaw.json"
    contents = (*JSON_CONTENTS, b'{"plugins": {"load": {"paths": []}, "entries": {}}}\n')
    unreadable = (b"{", b"[]", b'{"plugins": []}', b'{"plugins": {"load": {"paths": 1}}}')
    golden = HERE / "golden"


class TestOpenClawMcp(McpContract):
    plugin = "host.openclaw"
    config = ".openclaw/openclaw.json"
    contents = (
        b"{}",
        b'{"mcp": {"servers": {}}}',
        b'{\n  // mine\n  "mcp": {\n    "servers": {"docs": {"command": "docs"}}\n  },\n}\n',
    )
    unreadable = (b"{", b"[]", b'{"mcp": []}', b'{"mcp": {"servers": []}}')
