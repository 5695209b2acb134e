from __future__ import annotations

from pathlib import Path

from claude_mem_core.testing import GoldenInstallerContract, HostContract, McpContract
from claude_mem_core.testing.dirty import JSON_BROKEN, JSON_CONTENTS, JSON_SERVERS
from claude_mem_core.types import EventKind

HERE = Path(__file__).parent


class TestCursor(HostContract):
    plugin = "host.cursor"
    payloads = HERE / "examples"
    kinds = frozenset(
        {
            EventKind.SESSION_STARTED,
            EventKind.PROMPT_SENT,
            EventKind.TOOL_USED,
            EventKind.FILE_EDITED,
            EventKind.TURN_ENDED,
            EventKind.TURN_FAILED,
            EventKind.SUBAGENT_ENDED,
            EventKind.COMPACTING,
            EventKind.SESSION_ENDED,
        }
    )


class TestCursorInstaller(GoldenInstallerContract):
    plugin = "host.cursor"
    config = ".cursor/hooks.json"
    contents = (
        *JSON_CONTENTS,
        b'{"version": 1}',
        b'{\n  "version": 1, "hooks": {"stop": []}\n}',
    )
    unreadable = (*JSON_BROKEN, b'{"hooks": {"stop": {}}}')
    golden = HERE / "golden"


class TestCursorMcp(McpContract):
    plugin = "host.cursor"
    config = ".cursor/mcp.json"
    contents = JSON_SERVERS
    unreadable = (b"{", b"[]", b'{"mcpServers": []}')
