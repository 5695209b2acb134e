"""Plans the changes of Qoder's settings; the core shows and makes them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from claude_mem_core.editing import Json, JsonHooksInstaller, JsonServers, only_user
from claude_mem_core.editing.hookgroups import Group
from claude_mem_core.types import HostSetup

OFF = "{} says disableAllHooks: no hook runs"


class QoderInstaller(JsonHooksInstaller):
    """Puts our hooks and our MCP server into `settings.json` and takes them out again."""

    host = "qoder"
    title = "Qoder"
    program = "qodercli"
    # Seconds.
    timeouts = {  # noqa: RUF012 - one table, never changed
        "SessionStart": 60,
        "UserPromptSubmit": 60,
        "PostToolUse": 120,
        "PostToolUseFailure": 120,
        "Stop": 120,
        "SubagentStop": 120,
        "PreCompact": 60,
        "SessionEnd": 60,
    }

    def folder_of(self, setup: HostSetup) -> str:
        """`~/.qoder`."""
        return os.path.join(setup.home, ".qoder")

    def file_of(self, setup: HostSetup) -> str:
        """The user's `settings.json`."""
        only_user(setup, self.title)
        return os.path.join(self.folder_of(setup), "settings.json")

    def servers_of(self, setup: HostSetup) -> JsonServers:
        """The servers stand in the same file."""
        return JsonServers(self.file_of(setup))

    def problems(self, setup: HostSetup, doc: Json, ours: Mapping[str, Group]) -> Iterator[str]:
        """A switch that keeps our hooks from running."""
        off = doc.find("disableAllHooks")
        if off is not None and doc.value(off) is True:
            yield OFF.format(doc.name)
