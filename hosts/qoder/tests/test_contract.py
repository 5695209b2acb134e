from __future__ import annotations

from pathlib import Path

from claude_mem_core.testing import GoldenInstallerContract, HostContract, McpContract
from claude_mem_core.testing.dirty import JSON_BROKEN, JSON_CONTENTS, JSON_SERVERS
from claude_mem_core.types import EventKind

HERE = Path(__file__).parent


class TestQoder(HostContract):
    plugin = "host.qoder"
    payloads = HERE / "examples"
    kinds = frozenset(
        {
            EventKind.SESSION_STARTED,
            EventKind.PROMPT_SENT,
            EventKind.TOOL_USED,
            EventKind.TOOL_FAILED,
            EventKind.TURN_ENDED,
            EventKind.SUBAGENT_ENDED,
            EventKind.COMPACTING,
            EventKind.SESSION_ENDED,
        }
    )


class TestQoderInstaller(GoldenInstallerContract):
    plugin = "host.qoder"
    config = ".qoder/settings.json"
    contents = JSON_CONTENTS
    unreadable = (*JSON_BROKEN, b'{"hooks": {"PostToolUse": {}}}')
    golden = HERE / "golden"


class TestQoderMcp(McpContract):
    plugin = "host.qoder"
    config = ".qoder/settings.json"
    contents = JSON_SERVERS
    unreadable = (b"{", b"[]", b'{"mcpServers": []}')
