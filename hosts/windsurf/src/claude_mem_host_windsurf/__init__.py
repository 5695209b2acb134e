"""Windsurf as a host."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import Host, HostAdapter, HostInstaller


def open_adapter() -> HostAdapter:
    from claude_mem_host_windsurf.adapter import Windsurf

    return Windsurf()


def open_installer() -> HostInstaller:
    from claude_mem_host_windsurf.installer import WindsurfInstaller

    return WindsurfInstaller()


@hookimpl
def mem_hosts() -> Iterator[Host]:
    yield Host(
        name="windsurf",
        summary="Windsurf: hooks in its hooks.json, memory through its MCP server",
        title="Windsurf",
        open=open_adapter,
        installer=open_installer,
        injects_at=(),  # it reads nothing of what a hook prints
        hooks=(
            "pre_user_prompt",
            "post_write_code",
            "post_run_command",
            "post_mcp_tool_use",
            "post_cascade_response",
        ),
    )
