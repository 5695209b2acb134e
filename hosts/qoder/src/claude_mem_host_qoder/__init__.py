"""Qoder as a host."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import EventKind, Host, HostAdapter, HostInstaller


def open_adapter() -> HostAdapter:
    from claude_mem_host_qoder.adapter import Qoder

    return Qoder()


def open_installer() -> HostInstaller:
    from claude_mem_host_qoder.installer import QoderInstaller

    return QoderInstaller()


@hookimpl
def mem_hosts() -> Iterator[Host]:
    yield Host(
        name="qoder",
        summary="Qoder: hooks in its settings, context at the session's start",
        title="Qoder",
        open=open_adapter,
        installer=open_installer,
        aliases=("qoder-cli",),
        injects_at=(EventKind.SESSION_STARTED,),
        context_chars=8000,
        transcript_roots=("~/.qoder/projects",),
        hooks=(
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUse",
            "PostToolUseFailure",
            "Stop",
            "SubagentStop",
            "PreCompact",
            "SessionEnd",
        ),
    )
