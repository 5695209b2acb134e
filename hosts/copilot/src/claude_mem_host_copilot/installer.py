"""GitHub Copilot CLI's hooks: a file of ours in its folder of them; its MCP servers."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from typing import Any

from claude_mem_core.editing import (
    JsonServers,
    OwnFile,
    home_folder,
    only_user,
    shell_words,
    starts_us,
)
from claude_mem_core.editing.jsonhooks import opened
from claude_mem_core.errors import HostConfigError
from claude_mem_core.types import FileChange, HostSetup, HostStatus, McpStatus

HOST = "copilot"
TITLE = "GitHub Copilot CLI"
MARK = b"launch.py copilot "
# Seconds until it gives up on a hook; ours end long before.
TIMEOUTS = {
    "sessionStart": 60,
    "userPromptSubmitted": 60,
    "preToolUse": 15,
    "postToolUse": 120,
    "postToolUseFailure": 120,
    "agentStop": 120,
    "subagentStop": 120,
    "sessionEnd": 60,
}
# What is answered with context waits for it: the first also for a starting worker.
WAITS = {"sessionStart": ("--wait", "3")}
SHELL = "powershell" if os.name == "nt" else "bash"


def folder_of(setup: HostSetup) -> str:
    """`COPILOT_HOME`, else `~/.copilot`."""
    return home_folder(setup, "COPILOT_HOME", ".copilot")


def file_of(setup: HostSetup) -> OwnFile:
    """Our file in its folder of hooks.

    Raises:
        HostConfigError: another scope was asked for.
    """
    only_user(setup, TITLE)
    return OwnFile(os.path.join(folder_of(setup), "hooks", "claude-mem.json"), MARK)


def hooks_of(setup: HostSetup) -> dict[str, Any]:
    """What our file says. It has one command line for each event.

    Raises:
        HostConfigError: the data directory's path can't be quoted for a shell.
    """
    return {event: [_hook(event, setup.argv)] for event in TIMEOUTS}


def _hook(event: str, argv: Sequence[str]) -> dict[str, Any]:
    words = shell_words([*argv, HOST, event, *WAITS.get(event, ())], TITLE)
    command = f"& {words}" if SHELL == "powershell" else words
    return {"type": "command", SHELL: command, "timeoutSec": TIMEOUTS[event]}


class CopilotInstaller:
    """Brings our hooks file and takes it away again."""

    def status(self, setup: HostSetup) -> HostStatus:
        """Whether Copilot CLI is here, whether we are in it, and what is wrong."""
        file = file_of(setup)
        problems: tuple[str, ...] = ()
        events: set[str] = set()
        try:
            events = _events(file.content(), file.path)
        except HostConfigError as error:
            problems = (str(error),)
        program = shutil.which("copilot", path=setup.env.get("PATH"))
        return HostStatus(
            detected=bool(program) or os.path.isdir(folder_of(setup)),
            installed=events >= set(TIMEOUTS),
            config=file.path,
            problems=problems,
        )

    def install(self, setup: HostSetup) -> Sequence[FileChange]:
        """Our file; nothing when it is there already.

        Raises:
            HostConfigError: somebody else's file has its name; it is left as it is.
        """
        body = json.dumps({"version": 1, "hooks": hooks_of(setup)}, indent=2)
        return file_of(setup).write(body.encode("utf-8", "surrogatepass") + b"\n")

    def uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """No file of ours any more."""
        return file_of(setup).remove()

    # Our MCP server ----------------------------------------------------------

    def mcp_status(self, setup: HostSetup) -> McpStatus:
        """Whether our server stands in its `mcp-config.json`."""
        return servers(setup).status()

    def mcp_install(self, setup: HostSetup) -> Sequence[FileChange]:
        """The configuration with our server.

        Raises:
            HostConfigError: the file can't be edited; it is left as it is.
        """
        program, *args = setup.mcp
        entry = {"type": "local", "command": program, "args": [*args, HOST], "tools": ["*"]}
        return servers(setup).install(entry)

    def mcp_uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The configuration without it. Raises as `mcp_install` does."""
        return servers(setup).uninstall(setup)


def servers(setup: HostSetup) -> JsonServers:
    """Its MCP servers."""
    return JsonServers(os.path.join(folder_of(setup), "mcp-config.json"))


def _events(content: bytes | None, name: str) -> set[str]:
    """The events for which our file starts our client."""
    if content is None:
        return set()
    doc = opened(content, name)
    hooks = doc.find("hooks")
    value = doc.value(hooks) if hooks is not None else {}
    named = value.items() if isinstance(value, dict) else ()
    return {event for event, list_ in named if any(map(_is_ours, list_))}


def _is_ours(hook: object) -> bool:
    return isinstance(hook, dict) and starts_us(hook.get(SHELL), HOST)
