from __future__ import annotations

from pathlib import Path

from claude_mem_core.testing import GoldenInstallerContract, HostContract, McpContract
from claude_mem_core.types import EventKind

DIRTY = [
    b"x = 1",
    b"x = 1\n",
    b"# mine\n\n[models.fake]\nname = 'x' # why\n\n\n",
    b'\xef\xbb\xbfdefault_model = "k"\r\n[a]\r\nb = [1,\r\n 2]\r\n',
    b"[[hooks]]\nevent = 'Stop'\ncommand = 'say done'\n\n[other]\ny = 2\n",
]


class TestKimi(HostContract):
    plugin = "host.kimi"
    payloads = Path(__file__).parent / "examples"
    kinds = frozenset(
        {
            EventKind.SESSION_STARTED,
            EventKind.PROMPT_SENT,
            EventKind.TOOL_USED,
            EventKind.TOOL_FAILED,
            EventKind.TURN_ENDED,
            EventKind.SUBAGENT_ENDED,
        }
    )


class TestKimiInstaller(GoldenInstallerContract):
    plugin = "host.kimi"
    config = ".kimi-code/config.toml"
    golden = Path(__file__).parent / "golden"
    contents = DIRTY
    unreadable = (b"x =", b"[a\n", b"\xff\xfe", b"hooks = []\n", b"[hooks]\na = 1\n")


SERVERS = [
    b"{}",
    b'{"mcpServers": {}}',
    b'{\n  "mcpServers": {\n    "other": {"command": "x"}\n  }\n}\n',
    b'// mine\n{"mcpServers": {"claude-mem": {"command": "another product"}}, "a": [1,],}\n',
]


class TestKimiMcp(McpContract):
    plugin = "host.kimi"
    config = ".kimi-code/mcp.json"
    contents = SERVERS
    unreadable = (b"{", b"[]", b'{"mcpServers": []}', b"\xff\xfe{\x00}\x00")
