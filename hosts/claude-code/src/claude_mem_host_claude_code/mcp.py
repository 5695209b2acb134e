"""Our MCP server and skills in Claude Code: where they stand, and in which form."""

from __future__ import annotations

import os
from typing import Any

from claude_mem_core.editing import JsonServers
from claude_mem_core.errors import HostConfigError
from claude_mem_core.types import HostSetup, SkillFolder

HOST = "claude-code"


def servers(setup: HostSetup) -> JsonServers:
    """The object of servers of a scope.

    Claude Code keeps the user's servers, and those for him in one repository, in a file
    of its own beside its settings; a repository's lie in its `.mcp.json`.

    Raises:
        HostConfigError: there is no such scope.
    """
    if setup.scope == "user":
        return JsonServers(_own_file(setup))
    if setup.scope == "local" and setup.project:
        return JsonServers(_own_file(setup), ("projects", setup.project, "mcpServers"))
    if setup.scope == "project" and setup.project:
        path = os.path.join(setup.project, ".mcp.json")
        return JsonServers(path, inside=setup.project, mode=0o644)
    raise HostConfigError("Claude Code has the scopes user, project and local")


def _own_file(setup: HostSetup) -> str:
    """`~/.claude.json`, or inside of `CLAUDE_CONFIG_DIR` where that is set."""
    named = setup.env.get("CLAUDE_CONFIG_DIR")
    return os.path.join(os.path.abspath(named) if named else setup.home, ".claude.json")


def entry(setup: HostSetup) -> dict[str, Any]:
    """The server as `claude mcp add` writes it."""
    program, *args = setup.mcp
    return {"type": "stdio", "command": program, "args": [*args, HOST], "env": {}}


def skill_folder(setup: HostSetup, config_dir: str) -> SkillFolder | None:
    """The user's skills, or the repository's; there are none for him in one repository."""
    if setup.scope == "user":
        return SkillFolder(os.path.join(config_dir, "skills"))
    if setup.scope == "project" and setup.project:
        return SkillFolder(os.path.join(setup.project, ".claude", "skills"), setup.project)
    return None
