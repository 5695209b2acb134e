"""oh-my-pi as a host."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import EventKind, Host, HostAdapter, HostInstaller


def open_adapter() -> HostAdapter:
    from claude_mem_host_pi.adapter import Pi

    return Pi()


def open_installer() -> HostInstaller:
    from claude_mem_host_pi.installer import PiInstaller

    return PiInstaller()


@hookimpl
def mem_hosts() -> Iterator[Host]:
    yield Host(
        name="pi",
        summary="oh-my-pi: a small extension inside it, context with the first prompt",
        title="oh-my-pi",
        open=open_adapter,
        installer=open_installer,
        aliases=("omp",),
        injects_at=(EventKind.PROMPT_SENT,),
        context_chars=9000,
        hooks=(
            "session_start",
            "before_agent_start",
            "tool_result",
            "session_stop",
            "session_compact",
            "session_shutdown",
        ),
    )
