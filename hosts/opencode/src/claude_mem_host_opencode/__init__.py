"""OpenCode as a host."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import EventKind, Host, HostAdapter, HostInstaller


def open_adapter() -> HostAdapter:
    from claude_mem_host_opencode.adapter import OpenCode

    return OpenCode()


def open_installer() -> HostInstaller:
    from claude_mem_host_opencode.installer import OpenCodeInstaller

    return OpenCodeInstaller()


@hookimpl
def mem_hosts() -> Iterator[Host]:
    yield Host(
        name="opencode",
        summary="OpenCode: a small plugin inside it, context with the first prompt",
        title="OpenCode",
        open=open_adapter,
        installer=open_installer,
        injects_at=(EventKind.PROMPT_SENT,),
        context_chars=9000,
        hooks=(
            "session.created",
            "chat.message",
            "tool.execute.after",
            "tool.error",
            "session.idle",
            "session.error",
            "session.compacted",
        ),
    )
