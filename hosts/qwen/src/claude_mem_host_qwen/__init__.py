"""Qwen Code as a host."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import EventKind, Host, HostAdapter, HostInstaller


def open_adapter() -> HostAdapter:
    from claude_mem_host_qwen.adapter import Qwen

    return Qwen()


def open_installer() -> HostInstaller:
    from claude_mem_host_qwen.installer import QwenInstaller

    return QwenInstaller()


@hookimpl
def mem_hosts() -> Iterator[Host]:
    yield Host(
        name="qwen",
        summary="Qwen Code: hooks in its settings, context at the session's start",
        title="Qwen Code",
        open=open_adapter,
        installer=open_installer,
        aliases=("qwen-code",),
        injects_at=(EventKind.SESSION_STARTED,),
        context_chars=9000,
        transcript_roots=("$QWEN_HOME/projects", "~/.qwen/projects"),
        hooks=(
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUse",
            "PostToolUseFailure",
            "Stop",
            "StopFailure",
            "SubagentStop",
            "PreCompact",
            "PostCompact",
            "SessionEnd",
        ),
    )
