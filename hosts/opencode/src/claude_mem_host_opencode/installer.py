"""Brings our plugin into OpenCode's folder of plugins, and takes it away again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from claude_mem_core.editing import JsonServers
from claude_mem_core.editing.inprocess.installer import ScriptInstaller
from claude_mem_core.types import HostSetup


class OpenCodeInstaller(ScriptInstaller):
    """Puts the plugin there, names our MCP server, and undoes both."""

    host = "opencode"
    title = "OpenCode"
    program = "opencode"
    part = Path(__file__).with_name("plugin.mjs")

    def folder_of(self, setup: HostSetup) -> str:
        """`OPENCODE_CONFIG_DIR`, else `opencode` in the user's folder of configurations."""
        named = setup.env.get("OPENCODE_CONFIG_DIR")
        if named:
            return os.path.abspath(named)
        base = setup.env.get("XDG_CONFIG_HOME") or os.path.join(setup.home, ".config")
        return os.path.join(os.path.abspath(base), "opencode")

    def path_of(self, setup: HostSetup) -> str:
        """OpenCode loads every file of that folder."""
        return os.path.join(self.folder_of(setup), "plugins", "claude-mem.js")

    def servers_of(self, setup: HostSetup) -> JsonServers:
        """In the configuration file that is there."""
        folder = self.folder_of(setup)
        found = [os.path.join(folder, name) for name in ("opencode.jsonc", "opencode.json")]
        there = next((path for path in found if os.path.exists(path)), found[-1])
        return JsonServers(there, ("mcp",))

    def server(self, setup: HostSetup) -> dict[str, Any]:
        """Our MCP server as OpenCode reads it."""
        return {"type": "local", "command": [*setup.mcp, self.host], "enabled": True}
