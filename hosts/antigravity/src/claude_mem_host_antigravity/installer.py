"""Plans the changes of Antigravity CLI's hooks.json and of its MCP files.

Its hooks file holds named sets of hooks; ours is one of them:

    {"claude-mem": {"PreToolUse": [{"matcher": "*", "hooks": [...]}], "Stop": [...]}}
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from typing import Any

from claude_mem_core.editing import (
    JsonServers,
    only_user,
    opened,
    read_config,
    shell_words,
    starts_us,
)
from claude_mem_core.errors import HostConfigError
from claude_mem_core.types import FileChange, HostSetup, HostStatus, McpStatus

HOST = "antigravity"
TITLE = "Antigravity CLI"
SECONDS = 30
EVENTS = ("PreInvocation", "PreToolUse", "PostToolUse", "PostInvocation", "Stop")
GROUPED = ("PreToolUse", "PostToolUse")
# A tool waits for its hook, and is not let through by one that says nothing.
MORE = {"PreInvocation": ("--wait", "3"), "PreToolUse": ("--wait", "0.25", "--allow")}
# Which of them it reads is not documented.
SERVERS = (("antigravity", "mcp_config.json"), ("config", "mcp_config.json"))
OFF = "{} says enabled = false for our hooks: none runs"


def folder_of(setup: HostSetup) -> str:
    """`~/.gemini`, which it shares with Gemini CLI."""
    return os.path.join(setup.home, ".gemini")


def file_of(setup: HostSetup) -> JsonServers:
    """Our set of hooks in the file of them.

    Raises:
        HostConfigError: another scope was asked for.
    """
    only_user(setup, TITLE)
    path = os.path.join(folder_of(setup), "config", "hooks.json")
    return JsonServers(path, keys=(), mine=is_ours)


def is_ours(value: object) -> bool:
    """Whether a set of hooks starts our client, of whatever version or place."""
    return any(starts_us(command, HOST) for command in commands(value))


def commands(value: object) -> Iterator[object]:
    """The command lines in a set of hooks."""
    if isinstance(value, dict):
        yield value.get("command")
        for inner in value.values():
            yield from commands(inner) if isinstance(inner, dict | list) else ()
    elif isinstance(value, list):
        for inner in value:
            yield from commands(inner)


def hooks_of(setup: HostSetup) -> dict[str, Any]:
    """Our set of hooks.

    Raises:
        HostConfigError: the data directory's path can't be quoted for a shell.
    """
    return {event: [_entry(event, setup.argv)] for event in EVENTS}


def _entry(event: str, argv: Sequence[str]) -> dict[str, Any]:
    command = shell_words([*argv, HOST, event, *MORE.get(event, ())], TITLE)
    hook = {"type": "command", "command": command, "timeout": SECONDS}
    return {"matcher": "*", "hooks": [hook]} if event in GROUPED else hook


class AntigravityInstaller:
    """Puts our set of hooks into `hooks.json` and takes it out again."""

    def status(self, setup: HostSetup) -> HostStatus:
        """Whether Antigravity CLI is here, whether we are in it, and what is wrong."""
        file = file_of(setup)
        problems: tuple[str, ...] = ()
        ours: dict[str, Any] = {}
        try:
            content = read_config(file.path)
            opened(content, file.path)
            ours = (file.entry(content) if content is not None else None) or {}
        except HostConfigError as error:
            problems = (str(error),)
        if ours.get("enabled") is False:
            problems = (*problems, OFF.format(file.path))
        program = shutil.which("agy", path=setup.env.get("PATH"))
        return HostStatus(
            detected=bool(program) or os.path.isdir(f"{folder_of(setup)}/antigravity"),
            installed=set(ours) >= set(EVENTS),
            config=file.path,
            problems=problems,
        )

    def install(self, setup: HostSetup) -> Sequence[FileChange]:
        """The file with our hooks; nothing when they are there already.

        Raises:
            HostConfigError: the file can't be edited; it is left as it is.
        """
        return file_of(setup).install(hooks_of(setup))

    def uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The file as it was. Raises as `install` does."""
        return file_of(setup).uninstall(setup)

    # Our MCP server ----------------------------------------------------------

    def mcp_status(self, setup: HostSetup) -> McpStatus:
        """Whether our server stands in both files."""
        found = [servers.status() for servers in servers_of(setup)]
        return McpStatus(
            registered=all(one.registered for one in found),
            config=found[-1].config,
            problems=tuple(text for one in found for text in one.problems),
        )

    def mcp_install(self, setup: HostSetup) -> Sequence[FileChange]:
        """Both files with our server.

        Raises:
            HostConfigError: one of them can't be edited; both are left as they are.
        """
        program, *args = setup.mcp
        entry = {"command": program, "args": [*args, HOST]}
        return [change for servers in servers_of(setup) for change in servers.install(entry)]

    def mcp_uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The files without it. Raises as `mcp_install` does."""
        return [change for servers in servers_of(setup) for change in servers.uninstall(setup)]


def servers_of(setup: HostSetup) -> list[JsonServers]:
    """Its files of MCP servers."""
    return [JsonServers(os.path.join(folder_of(setup), *steps)) for steps in SERVERS]
