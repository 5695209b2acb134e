"""Plans the changes of Windsurf's hooks.json and mcp_config.json; the core makes them."""

from __future__ import annotations

import os

from claude_mem_core.editing import FlatHooksInstaller, JsonServers, only_user
from claude_mem_core.editing.hookgroups import Group
from claude_mem_core.types import HostSetup

NAMED = (
    "pre_user_prompt",
    "post_write_code",
    "post_run_command",
    "post_mcp_tool_use",
    "post_cascade_response",
)


class WindsurfInstaller(FlatHooksInstaller):
    """Puts our hooks into `hooks.json` and takes them out again."""

    host = "windsurf"
    title = "Windsurf"
    program = "windsurf"
    named = NAMED
    # Its payloads rarely say where they come from; its hooks start in the workspace.
    waits = dict.fromkeys(NAMED, ("--here",))

    def folder_of(self, setup: HostSetup) -> str:
        """`~/.codeium/windsurf`."""
        return os.path.join(setup.home, ".codeium", "windsurf")

    def file_of(self, setup: HostSetup) -> str:
        """The user's `hooks.json`."""
        only_user(setup, self.title)
        return os.path.join(self.folder_of(setup), "hooks.json")

    def hook(self, event: str, command: str) -> Group:
        """A command line for a shell, of whose output the user sees nothing."""
        return {"command": command, "show_output": False}

    def servers_of(self, setup: HostSetup) -> JsonServers:
        """The servers stand in a file of their own."""
        return JsonServers(os.path.join(self.folder_of(setup), "mcp_config.json"))
