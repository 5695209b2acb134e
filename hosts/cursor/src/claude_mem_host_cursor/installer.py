"""Plans the changes of Cursor's hooks.json and mcp.json; the core shows and makes them."""

from __future__ import annotations

import os

from claude_mem_core.editing import FlatHooksInstaller, JsonServers, only_user
from claude_mem_core.editing.hookgroups import Group
from claude_mem_core.types import HostSetup


class CursorInstaller(FlatHooksInstaller):
    """Puts our hooks into `hooks.json` and takes them out again."""

    host = "cursor"
    title = "Cursor"
    program = "cursor"
    head = {"version": 1}  # noqa: RUF012 - it reads no file without it
    # How long it waits for a hook, and in which unit, is not documented: none is named.
    named = (
        "sessionStart",
        "beforeSubmitPrompt",
        "afterShellExecution",
        "afterMCPExecution",
        "afterFileEdit",
        "afterAgentResponse",
        "subagentStop",
        "preCompact",
        "stop",
        "sessionEnd",
    )
    waits = {"sessionStart": ("--wait", "3")}  # noqa: RUF012 - one table, never changed

    def folder_of(self, setup: HostSetup) -> str:
        """`~/.cursor`."""
        return os.path.join(setup.home, ".cursor")

    def file_of(self, setup: HostSetup) -> str:
        """The user's `hooks.json`."""
        only_user(setup, self.title)
        return os.path.join(self.folder_of(setup), "hooks.json")

    def hook(self, event: str, command: str) -> Group:
        """A command line; Cursor starts it through a shell."""
        return {"command": command}

    def servers_of(self, setup: HostSetup) -> JsonServers:
        """The servers stand in a file of their own."""
        return JsonServers(os.path.join(self.folder_of(setup), "mcp.json"))
