"""Kimi Code as a host."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import EventKind, Host, HostAdapter, HostInstaller


def open_adapter() -> HostAdapter:
    from claude_mem_host_kimi.adapter import KimiCode

    return KimiCode()


def open_installer() -> HostInstaller:
    from claude_mem_host_kimi.installer import KimiInstaller

    return KimiInstaller()


@hookimpl
def mem_hosts() -> Iterator[Host]:
    yield Host(
        name="kimi",
        summary="Kimi Code: hooks in its config.toml, context with the first prompt",
        title="Kimi Code",
        open=open_adapter,
        installer=open_installer,
        # What its other hooks print never reaches the model.
        injects_at=(EventKind.PROMPT_SENT,),
        context_chars=9000,
        transcript_roots=("$KIMI_CODE_HOME/sessions", "~/.kimi-code/sessions"),
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
