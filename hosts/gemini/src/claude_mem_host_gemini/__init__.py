"""Gemini CLI as a host."""

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

BESIDE = ("../.project_root",)


def open_adapter() -> HostAdapter:
    from claude_mem_host_gemini.adapter import Gemini

    return Gemini()


def open_installer() -> HostInstaller:
    from claude_mem_host_gemini.installer import GeminiInstaller

    return GeminiInstaller()


def open_history(file: TranscriptFile) -> TranscriptReader:
    from claude_mem_host_gemini.history import History

    return History(file)


@hookimpl
def mem_hosts() -> Iterator[Host]:
    yield Host(
        name="gemini",
        summary="Gemini CLI: hooks in its settings, context at the session's start",
        title="Gemini CLI",
        open=open_adapter,
        installer=open_installer,
        aliases=("gemini-cli",),
        injects_at=(EventKind.SESSION_STARTED,),
        context_chars=9000,
        transcript_roots=("~/.gemini/tmp",),
        transcripts=(
            Transcripts(pattern="*/chats/session-*.jsonl", open=open_history, beside=BESIDE),
            Transcripts(
                pattern="*/chats/session-*.json",
                open=open_history,
                beside=BESIDE,
                form="document",
            ),
        ),
        hooks=("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"),
    )
