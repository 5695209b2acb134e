from __future__ import annotations

from pathlib import Path

from claude_mem_core.testing import GoldenInstallerContract, HostContract, McpContract
from claude_mem_core.testing.dirty import JSON_BROKEN, JSON_CONTENTS, JSON_SERVERS
from claude_mem_core.types import EventKind

HERE = Path(__file__).parent


class TestWindsurf(HostContract):
    plugin = "host.windsurf"
    payloads = HERE / "examples"
    kinds = frozenset(
        {
            EventKind.PROMPT_SENT,
            EventKind.TOOL_USED,
            EventKind.FILE_EDITED,
            EventKind.TURN_ENDED,
        }
    )


class TestWindsurfInstaller(GoldenInstallerContract):
    plugin = "host.windsurf"
    config = ".codeium/windsurf/hooks.json"
    contents = JSON_CONTENTS
    unreadable = (*JSON_BROKEN, b'{"hooks": {"pre_user_prompt": {}}}')
    golden = HERE / "golden"


class TestWindsurfMcp(McpContract):
    plugin = "host.windsurf"
    config = ".codeium/windsurf/mcp_config.json"
    contents = JSON_SERVERS
    unreadable = (b"{", b"[]", b'{"mcpServers": []}')
