"""OpenCode as a host."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import (
    EventKind,
    Host,
    HostAdapter,
    HostInstaller,
    TranscriptFile,
    TranscriptReader,
    Transcripts,
)

# What is read of its database, in this order.
TABLES = {
    "session": ("id", "parent_id", "directory", "agent"),
    "message": ("id", "session_id", "time_created", "data"),
    "part": ("message_id", "session_id", "time_created", "data"),
}


def open_adapter() -> HostAdapter:
    from claude_mem_host_opencode.adapter import OpenCode

    return OpenCode()


def open_installer() -> HostInstaller:
    from claude_mem_host_opencode.installer import OpenCodeInstaller

    return OpenCodeInstaller()


def open_history(file: TranscriptFile) -> TranscriptReader:
    from claude_mem_host_opencode.history import History

    return History(file)


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
        transcript_roots=("$XDG_DATA_HOME/opencode", "~/.local/share/opencode"),
        transcripts=(
            Transcripts(
                pattern="opencode.db", open=open_history, form="database", tables=TABLES
            ),
        ),
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
