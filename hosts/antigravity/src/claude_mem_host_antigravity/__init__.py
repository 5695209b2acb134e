"""Antigravity CLI as a host."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import EventKind, Host, HostAdapter, HostInstaller


def open_adapter() -> HostAdapter:
    from claude_mem_host_antigravity.adapter import Antigravity

    return Antigravity()


def open_installer() -> HostInstaller:
    from claude_mem_host_antigravity.installer import AntigravityInstaller

    return AntigravityInstaller()


@hookimpl
def mem_hosts() -> Iterator[Host]:
    yield Host(
        name="antigravity",
        summary="Antigravity CLI: hooks in its hooks.json, context with the first request",
        title="Antigravity CLI",
        open=open_adapter,
        installer=open_installer,
        injects_at=(EventKind.SESSION_STARTED,),
        context_chars=9000,
        transcript_roots=("~/.gemini",),
        hooks=("PreInvocation", "PreToolUse", "PostToolUse", "PostInvocation", "Stop"),
        aliases=("antigravity-cli", "agy"),
    )
