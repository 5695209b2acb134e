from __future__ import annotations

from pathlib import Path

from claude_mem_core.testing import GoldenInstallerContract, HostContract, McpContract
from claude_mem_core.testing.dirty import JSON_SERVERS
from claude_mem_core.types import EventKind

HERE = Path(__file__).parent


class TestAntigravity(HostContract):
    plugin = "host.antigravity"
    payloads = HERE / "examples"
    kinds = frozenset(
        {
            EventKind.SESSION_STARTED,
            EventKind.PROMPT_SENT,
            EventKind.TOOL_USED,
            EventKind.TOOL_FAILED,
            EventKind.TURN_ENDED,
            EventKind.TURN_FAILED,
        }
    )


class TestAntigravityInstaller(GoldenInstallerContract):
    plugin = "host.antigravity"
    config = ".gemini/config/hooks.json"
    contents = (
        b"",
        b"{}",
        b'{"a": {"Stop": []}}',
        b'{\n  // mine\n  "b": {"enabled": false},\n}\n',
        b'{"claude-mem": {"Stop": [{"command": "another product"}]}}',
    )
    unreadable = (b"{", b"[]", b"\xff\xfe{", b'{"a": 1} x')
    golden = HERE / "golden"


class TestAntigravityMcp(McpContract):
    plugin = "host.antigravity"
    config = ".gemini/config/mcp_config.json"
    contents = JSON_SERVERS
    unreadable = (b"{", b"[]", b'{"mcpServers": []}')


class TestAntigravityOtherMcp(McpContract):
    plugin = "host.antigravity"
    config = ".gemini/antigravity/mcp_config.json"
    contents = JSON_SERVERS
    unreadable = (b"{", b"[]", b'{"mcpServers": []}')
