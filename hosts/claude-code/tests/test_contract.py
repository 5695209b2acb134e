from __future__ import annotations

from pathlib import Path

from claude_mem_core.testing import GoldenInstallerContract, HostContract, McpContract
from claude_mem_core.types import EventKind

DIRTY = [
    b"{}",
    b"{ }",
    b'{\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}\n}\n',
    b'\xef\xbb\xbf{\r\n\t"model": "opus",\r\n\t"env": {"A": "b"}\r\n}\r\n',
    b'// mine\n{\n    /* x */ "a": [1, 2,], // trailing\n    "b": {},\n}\n// end',
    b'{"a": 1, "hooks": {"Stop": [ {"hooks": [{"type": "command", "command": "x"}]} ]}}',
]


class TestClaudeCode(HostContract):
    plugin = "host.claude-code"
    payloads = Path(__file__).parent / "examples"
    kinds = (
        frozenset(EventKind)
        - {EventKind.FILE_EDITED, EventKind.SUBAGENT_STARTED}
        - {EventKind.NOTICE}
    )


class TestClaudeCodeInstaller(GoldenInstallerContract):
    plugin = "host.claude-code"
    config = ".claude/settings.json"
    golden = Path(__file__).parent / "golden"
    contents = DIRTY
    unreadable = (
        b"{",
        b"[]",
        b"not json",
        b'{"a": 1} x',
        b'{"hooks": []}',
        b'{"hooks": {"Stop": {}}}',
        b"\xff\xfe{\x00}\x00",
    )


SERVERS = [
    b"{}",
    b'{"numStartups": 3, "mcpServers": {}}',
    b'{\n  "numStartups": 12,\n  "mcpServers": {\n    "other": {"type": "http"}\n  }\n}',
    b'{\n\t"mcpServers": {"claude-mem": {"command": "another product"}},\n\t"b": {}\n}\n',
]


class TestClaudeCodeMcp(McpContract):
    plugin = "host.claude-code"
    config = ".claude.json"
    contents = SERVERS
    unreadable = (b"{", b"[]", b'{"mcpServers": 3}', b"\xff\xfe{\x00}\x00")
