from __future__ import annotations

from pathlib import Path

from claude_mem_core.testing import GoldenInstallerContract, HostContract, McpContract
from claude_mem_core.testing.dirty import JSON_BROKEN, JSON_CONTENTS, JSON_SERVERS
from claude_mem_core.types import EventKind

HERE = Path(__file__).parent


class TestGemini(HostContract):
    plugin = "host.gemini"
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


class TestGeminiInstaller(GoldenInstallerContract):
    plugin = "host.gemini"
    config = ".gemini/settings.json"
    contents = JSON_CONTENTS
    unreadable = (*JSON_BROKEN, b'{"hooks": {"AfterTool": {}}}')
    golden = HERE / "golden"


class TestGeminiMcp(McpContract):
    plugin = "host.gemini"
    config = ".gemini/settings.json"
    contents = JSON_SERVERS
    unreadable = (b"{", b"[]", b'{"mcpServers": []}')
