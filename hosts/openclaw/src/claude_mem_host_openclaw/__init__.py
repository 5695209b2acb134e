"""OpenClaw as a host."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import EventKind, Host, HostAdapter, HostInstaller


def open_adapter() -> HostAdapter:
    from claude_mem_host_openclaw.adapter import OpenClaw

    return OpenClaw()


def open_installer() -> HostInstaller:
    from claude_mem_host_openclaw.installer import OpenClawInstaller

    return OpenClawInstaller()


@hookimpl
def mem_hosts() -> Iterator[Host]:
    yield Host(
        name="openclaw",
        summary="OpenClaw: a small plugin inside it, context with the first prompt",
        title="OpenClaw",
        open=open_adapter,
        installer=open_installer,
        injects_at=(EventKind.PROMPT_SENT,),
        context_chars=9000,
        hooks=(
            "before_prompt_build",
            "after_tool_call",
            "agent_end",
            "after_compaction",
            "session_end",
        ),
    )
