"""Plans the changes of Gemini CLI's settings; the core shows and makes them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from claude_mem_core.editing import Json, JsonHooksInstaller, JsonServers, only_user
from claude_mem_core.editing.hookgroups import Group
from claude_mem_core.types import HostSetup

OFF = "{} says hooksConfig.enabled = false: no hook runs"
DISABLED = "{} names our hooks in hooksConfig.disabled: they do not run"


class GeminiInstaller(JsonHooksInstaller):
    """Puts our hooks and our MCP server into `settings.json` and takes them out again."""

    host = "gemini"
    title = "Gemini CLI"
    program = "gemini"
    # Milliseconds.
    timeouts = {  # noqa: RUF012 - one table, never changed
        "SessionStart": 60_000,
        "BeforeAgent": 60_000,
        "AfterTool": 120_000,
        "AfterAgent": 120_000,
        "SessionEnd": 60_000,
    }
    # Only the start's hook waits for a worker that is starting.
    waits = {"BeforeAgent": ("--wait", "0.25")}  # noqa: RUF012 - as above

    def folder_of(self, setup: HostSetup) -> str:
        """`.gemini` in `GEMINI_CLI_HOME`, else in the home."""
        named = setup.env.get("GEMINI_CLI_HOME")
        return os.path.join(os.path.abspath(named) if named else setup.home, ".gemini")

    def file_of(self, setup: HostSetup) -> str:
        """The user's `settings.json`."""
        only_user(setup, self.title)
        return os.path.join(self.folder_of(setup), "settings.json")

    def servers_of(self, setup: HostSetup) -> JsonServers:
        """The servers stand in the same file."""
        return JsonServers(self.file_of(setup))

    def problems(self, setup: HostSetup, doc: Json, ours: Mapping[str, Group]) -> Iterator[str]:
        """Switches that keep our hooks from running."""
        on = doc.find("hooksConfig", "enabled")
        if on is not None and doc.value(on) is False:
            yield OFF.format(doc.name)
        disabled = doc.find("hooksConfig", "disabled")
        names = doc.value(disabled) if disabled is not None else []
        commands = {hook["command"] for group in ours.values() for hook in group["hooks"]}
        if isinstance(names, list) and commands & {str(name) for name in names}:
            yield DISABLED.format(doc.name)
