"""Cursor as a host."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import EventKind, Host, HostAdapter, HostInstaller


def open_adapter() -> HostAdapter:
    from claude_mem_host_cursor.adapter import Cursor

    return Cursor()


def open_installer() -> HostInstaller:
    from claude_mem_host_cursor.installer import CursorInstaller

    return CursorInstaller()


@hookimpl
def mem_hosts() -> Iterator[Host]:
    yield Host(
        name="cursor",
        summary="Cursor: hooks in its hooks.json, context at the session's start",
        title="Cursor",
        open=open_adapter,
        installer=open_installer,
        injects_at=(EventKind.SESSION_STARTED,),
        context_chars=9000,
        transcript_roots=("~/.cursor/projects",),
        hooks=(
            "sessionStart",
            "beforeSubmitPrompt",
            "afterShellExecution",
            "afterMCPExecution",
            "afterFileEdit",
            "afterAgentResponse",
            "subagentStop",
            "preCompact",
            "stop",
            "sessionEnd",
        ),
    )
