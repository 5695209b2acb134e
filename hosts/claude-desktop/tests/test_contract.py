from __future__ import annotations

from claude_mem_core.testing import McpContract
from claude_mem_core.testing.offer import RecordContract
from claude_mem_core.types import Delivery, Host

SERVERS = (
    b"{}",
    b'{"mcpServers": {}}',
    b'{\n  "mcpServers": {\n    "files": {"command": "npx", "args": ["-y", "x"]}\n  }\n}\n',
    b'\xef\xbb\xbf{\r\n\t"globalShortcut": "",\r\n\t"mcpServers": {"a": {"command": "b"}}\r\n}',
)


class TestClaudeDesktopMcp(McpContract):
    plugin = "host.claude-desktop"
    config = ".config/Claude/claude_desktop_config.json"
    contents = SERVERS
    unreadable = (b"{", b"[]", b'{"mcpServers": []}', b"\xff\xfe{\x00}\x00")


class TestClaudeDesktop(RecordContract[Host]):
    plugin = "host.claude-desktop"
    hook = "mem_hosts"
    kind = Host

    def test_it_sends_nothing(self, record: Host) -> None:
        assert record.open().parse(Delivery(host="claude-desktop", event="", stdin=b"{}")) == []
        assert record.hooks == ()
