"""T3 Code as a host: it runs Codex CLI and Claude Code, and those do the rest."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import Host, HostAdapter, HostInstaller


def open_adapter() -> HostAdapter:
    from claude_mem_core.editing import SendsNothing

    return SendsNothing()


def open_installer() -> HostInstaller:
    from claude_mem_host_t3code.installer import T3CodeInstaller

    return T3CodeInstaller()


@hookimpl
def mem_hosts() -> Iterator[Host]:
    yield Host(
        name="t3code",
        summary="T3 Code: the hooks of the Codex CLI and the Claude Code that it runs",
        title="T3 Code",
        open=open_adapter,
        installer=open_installer,
        injects_at=(),
        aliases=("t3", "t3-code"),
    )
