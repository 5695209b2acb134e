from __future__ import annotations

from pathlib import Path

from claude_mem_core.testing import GoldenInstallerContract, HostContract, McpContract
from claude_mem_core.testing.dirty import JSON_BROKEN, JSON_CONTENTS, JSON_SERVERS
from claude_mem_core.types import EventKind

HERE = Path(__file__).parent


class TestQwen(HostContract):
    plugin = "host.qwen"
    payloads = HERE / "examples"
    kinds = frozenset(
        {
            EventKind.SESSION_STARTED,
            EventKind.PROMPT_SENT,
            EventKind.TOOL_USED,
            EventKind.TURN_ENDED,
            EventKind.TOOL_FAILED,
            EventKind.SUBAGENT_ENDED,
        }
    )


class TestQwenInstaller(GoldenInstallerContract):
    plugin = "host.qwen"
    config = ".qwen/settings.json"
    contents = JSON_CONTENTS
    unreadable = (*JSON_BROKEN, b'{"hooks": {"PostToolUse": {}}}')
    golden = HERE / "golden"


class TestQwenMcp(McpContract):
    plugin = "host.qwen"
    config = ".qwen/settings.json"
    contents = JSON_SERVERS
    unreadable = (b"{", b"[]", b'{"mcpServers": []}')
