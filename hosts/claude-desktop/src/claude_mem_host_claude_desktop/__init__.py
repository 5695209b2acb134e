"""Claude Desktop as a host: it has no hooks, so it reads the memory and adds nothing."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import Host, HostAdapter, HostInstaller


def open_adapter() -> HostAdapter:
    from claude_mem_core.editing import SendsNothing

    return SendsNothing()


def open_installer() -> HostInstaller:
    from claude_mem_host_claude_desktop.installer import ClaudeDesktopInstaller

    return ClaudeDesktopInstaller()


@hookimpl
def mem_hosts() -> Iterator[Host]:
    yield Host(
        name="claude-desktop",
        summary="Claude Desktop: our MCP server in its configuration; it has no hooks",
        title="Claude Desktop",
        open=open_adapter,
        installer=open_installer,
        injects_at=(),
    )
