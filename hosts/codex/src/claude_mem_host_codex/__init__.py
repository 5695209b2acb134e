"""Codex CLI as a host."""

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


def open_adapter() -> HostAdapter:
    from claude_mem_host_codex.adapter import Codex

    return Codex()


def open_installer() -> HostInstaller:
    from claude_mem_host_codex.installer import CodexInstaller

    return CodexInstaller()


def open_history(file: TranscriptFile) -> TranscriptReader:
    from claude_mem_host_codex.history import History

    return History(file)


@hookimpl
def mem_hosts() -> Iterator[Host]:
    yield Host(
        name="codex",
        summary="Codex CLI: hooks in its hooks.json, context at the session's start",
        title="Codex CLI",
        open=open_adapter,
        installer=open_installer,
        aliases=("codex-cli",),
        injects_at=(EventKind.SESSION_STARTED,),
        # It cuts longer text in the middle; 12,000 characters were too much.
        context_chars=8000,
        transcript_roots=("$CODEX_HOME/sessions", "~/.codex/sessions"),
        transcripts=(Transcripts(pattern="**/rollout-*.jsonl", open=open_history),),
        hooks=(
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUse",
            "Stop",
            "SubagentStop",
            "PreCompact",
            "PostCompact",
            "SessionEnd",
        ),
    )
