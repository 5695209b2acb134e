"""Claude Code as a host."""

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
    from claude_mem_host_claude_code.adapter import ClaudeCode

    return ClaudeCode()


def open_installer() -> HostInstaller:
    from claude_mem_host_claude_code.installer import ClaudeCodeInstaller

    return ClaudeCodeInstaller()


def open_history(file: TranscriptFile) -> TranscriptReader:
    from claude_mem_host_claude_code.history import History

    return History(file)


def open_inner_history(file: TranscriptFile) -> TranscriptReader:
    from claude_mem_host_claude_code.history import History

    return History(file, inner=True)


@hookimpl
def mem_hosts() -> Iterator[Host]:
    yield Host(
        name="claude-code",
        summary="Claude Code: hooks in its settings file, context at the session's start",
        title="Claude Code",
        open=open_adapter,
        installer=open_installer,
        injects_at=(
            EventKind.SESSION_STARTED,
            EventKind.PROMPT_SENT,
            EventKind.TOOL_STARTING,
        ),
        # It replaces text over 10,000 characters by a file name and a preview.
        context_chars=9000,
        transcript_roots=("$CLAUDE_CONFIG_DIR/projects", "~/.claude/projects"),
        transcripts=(
            Transcripts(pattern="*/*.jsonl", open=open_history),
            Transcripts(pattern="*/*/subagents/*.jsonl", open=open_inner_history, inner=True),
        ),
        notes=("*/memory/*.md",),
        hooks=(
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
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
