from __future__ import annotations

from pathlib import Path

from claude_mem_core.testing import GoldenInstallerContract, HostContract, McpContract
from claude_mem_core.testing.dirty import JSON_BROKEN, JSON_CONTENTS
from claude_mem_core.types import EventKind

HERE = Path(__file__).parent


class TestCodex(HostContract):
    plugin = "host.codex"
    payloads = HERE / "examples"
    kinds = frozenset(
        {
            EventKind.SESSION_STARTED,
            EventKind.PROMPT_SENT,
            EventKind.TOOL_USED,
            EventKind.TURN_ENDED,
            EventKind.SUBAGENT_ENDED,
            EventKind.COMPACTING,
            EventKind.COMPACTED,
            EventKind.SESSION_ENDED,
        }
    )


class TestCodexInstaller(GoldenInstallerContract):
    plugin = "host.codex"
    config = ".codex/hooks.json"
    contents = JSON_CONTENTS
    unreadable = (*JSON_BROKEN, b'{"hooks": {"Stop": {}}}')
    golden = HERE / "golden"


class TestCodexMcp(McpContract):
    plugin = "host.codex"
    config = ".codex/config.toml"
    contents = (
        b"",
        b"# mine\n[mcp_servers.docs]\ncommand = 'docs' # why\n\n[tui]\nx = 1\n",
        b"[mcp_servers.claude-mem]\ncommand = 'another product'\n",
    )
    unreadable = (b"x =", b"mcp_servers = {}\n", b"\xff")
