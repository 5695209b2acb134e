"""Brings our extension into oh-my-pi's folder of extensions, and takes it away again."""

from __future__ import annotations

import os
from pathlib import Path

from claude_mem_core.editing import JsonServers, home_folder
from claude_mem_core.editing.inprocess.installer import ScriptInstaller
from claude_mem_core.types import HostSetup


class PiInstaller(ScriptInstaller):
    """Puts the extension there, names our MCP server, and undoes both."""

    host = "pi"
    title = "oh-my-pi"
    program = "omp"
    part = Path(__file__).with_name("plugin.mjs")

    def folder_of(self, setup: HostSetup) -> str:
        """`PI_CODING_AGENT_DIR`, else `~/.omp/agent`."""
        return home_folder(setup, "PI_CODING_AGENT_DIR", os.path.join(".omp", "agent"))

    def path_of(self, setup: HostSetup) -> str:
        """oh-my-pi loads every file of that folder."""
        return os.path.join(self.folder_of(setup), "extensions", "claude-mem.js")

    def servers_of(self, setup: HostSetup) -> JsonServers:
        """Its `mcp.json`."""
        return JsonServers(os.path.join(self.folder_of(setup), "mcp.json"))
