"""Kimi Code as a host."""

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
    from claude_mem_host_kimi.adapter import KimiCode

    return KimiCode()


def open_installer() -> HostInstaller:
    from claude_mem_host_kimi.installer import KimiInstaller

    return KimiInstaller()


def open_history(file: TranscriptFile) -> TranscriptReader:
    from claude_mem_host_kimi.history import History

    return History(file)


@hookimpl
def mem_hosts() -> Iterator[Host]:
    yield Host(
        name="kimi",
        summary="Kimi Code: hooks in its config.toml, context with the first prompt",
        title="Kimi Code",
        open=open_adapter,
        installer=open_installer,
        aliases=("kimi-code",),
        # What its other hooks print never reaches the model.
        injects_at=(EventKind.PROMPT_SENT,),
        context_chars=9000,
        # Nobody waits for its hook after a tool; `kimi -p` is gone before the last one.
        leaves_early=True,
        transcript_roots=("$KIMI_CODE_HOME/sessions", "~/.kimi-code/sessions"),
        transcripts=(
            Transcripts(
                pattern="*/*/agents/main/wire.jsonl",
                open=open_history,
                beside=("../../state.json",),
            ),
        ),
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
