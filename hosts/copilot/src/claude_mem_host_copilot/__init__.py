"""GitHub Copilot CLI as a host."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import EventKind, Host, HostAdapter, HostInstaller


def open_adapter() -> HostAdapter:
    from claude_mem_host_copilot.adapter import Copilot

    return Copilot()


def open_installer() -> HostInstaller:
    from claude_mem_host_copilot.installer import CopilotInstaller

    return CopilotInstaller()


@hookimpl
def mem_hosts() -> Iterator[Host]:
    yield Host(
        name="copilot",
        summary="GitHub Copilot CLI: a hooks file of its own, context at the session's start",
        title="GitHub Copilot CLI",
        open=open_adapter,
        installer=open_installer,
        aliases=("copilot-cli",),
        injects_at=(EventKind.SESSION_STARTED, EventKind.TOOL_STARTING),
        context_chars=9000,
        transcript_roots=("$COPILOT_HOME/session-state", "~/.copilot/session-state"),
        hooks=(
            "sessionStart",
            "userPromptSubmitted",
            "preToolUse",
            "postToolUse",
            "postToolUseFailure",
            "agentStop",
            "subagentStop",
            "sessionEnd",
        ),
    )
