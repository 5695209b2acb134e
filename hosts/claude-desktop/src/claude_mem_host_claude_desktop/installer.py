"""Names our MCP server in Claude Desktop's configuration."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from claude_mem_core.editing import McpOnlyInstaller
from claude_mem_core.types import HostSetup

HOST = "claude-desktop"
FILE = "claude_desktop_config.json"


class ClaudeDesktopInstaller(McpOnlyInstaller):
    """The installer. Claude Desktop starts servers from no project's directory."""

    def __init__(self) -> None:
        super().__init__(HOST, "Claude Desktop", config)

    def steps(self, setup: HostSetup) -> Sequence[str]:
        """What is left to the user."""
        return (
            "restart Claude Desktop, then it has the memory's tools",
            f"it works in no project: `mem mcp allow {HOST} --all-projects` lets it read all",
        )


def config(setup: HostSetup) -> str:
    """Its configuration, as documented for macOS and Windows; elsewhere in XDG's place."""
    if sys.platform == "darwin":
        folder = os.path.join(setup.home, "Library", "Application Support")
    elif sys.platform == "win32":
        folder = setup.env.get("APPDATA") or os.path.join(setup.home, "AppData", "Roaming")
    else:
        folder = setup.env.get("XDG_CONFIG_HOME") or os.path.join(setup.home, ".config")
    return os.path.join(folder, "Claude", FILE)
