"""The folder from which Claude Code takes our plugin: a marketplace with one plugin in it.

It lies in the data directory and is run in place, so its hooks are the very ones that
would stand in the settings, and an upgrade of ours needs no update in Claude Code.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files as resources
from typing import Any

from claude_mem_core.editing import read_config
from claude_mem_core.types import FileChange, HostSetup
from claude_mem_host_claude_code import hooks, mcp

# Names that begin with "claude-" are refused: they are Anthropic's own.
NAME = "mem"
MARKET = "mem-core"
SUMMARY = "Remembers what was done in earlier sessions, and tells the next one"
NO_SKILLS = "no-skills"


def folder(setup: HostSetup) -> str:
    """Where the marketplace lies."""
    return os.path.join(setup.data_dir, "hosts", "claude-code-plugin")


def server_file(setup: HostSetup) -> str:
    """The plugin's list of MCP servers."""
    return os.path.join(folder(setup), NAME, ".mcp.json")


def written(setup: HostSetup) -> list[FileChange]:
    """The changes that make the folder what it has to be."""
    wanted = dict(_files(setup))
    return [*_changes(setup, wanted), *_removed(setup, set(wanted))]


def removed(setup: HostSetup) -> list[FileChange]:
    """The changes that take the folder away."""
    return _removed(setup, set())


def _changes(setup: HostSetup, wanted: dict[str, bytes]) -> Iterator[FileChange]:
    for path, after in wanted.items():
        before = read_config(path)
        if before != after:
            yield FileChange(path=path, before=before, after=after)


def _removed(setup: HostSetup, wanted: set[str]) -> list[FileChange]:
    """Files that no version of now has: all of the folder is ours."""
    found = (
        os.path.join(at, name) for at, _, names in os.walk(folder(setup)) for name in names
    )
    return [
        FileChange(path=path, before=read_config(path), after=None)
        for path in sorted(found)
        if path not in wanted
    ]


def _files(setup: HostSetup) -> Iterator[tuple[str, bytes]]:
    """Every file of the folder, by its path."""
    top, plugin = folder(setup), os.path.join(folder(setup), NAME)
    known = version("claude-mem-host-claude-code")
    about = {"name": NAME, "version": known, "description": SUMMARY, **_author()}
    yield _json(_market(), top, ".claude-plugin", "marketplace.json")
    yield _json({**about, "license": "Apache-2.0"}, plugin, ".claude-plugin", "plugin.json")
    groups = {event: [group] for event, group in hooks.wanted(setup.argv).items()}
    yield _json({"description": SUMMARY, "hooks": groups}, plugin, "hooks", "hooks.json")
    if setup.mcp:
        yield _json({"mcpServers": {"claude-mem": mcp.entry(setup)}}, server_file(setup))
    if NO_SKILLS not in setup.options:
        for name, text in _skills():
            yield os.path.join(plugin, "skills", name, "SKILL.md"), text


def _market() -> dict[str, Any]:
    entry = {"name": NAME, "source": f"./{NAME}", "description": SUMMARY}
    owner = {"owner": _author()["author"]}
    return {"name": MARKET, **owner, "description": SUMMARY, "plugins": [entry]}


def _author() -> dict[str, dict[str, str]]:
    return {"author": {"name": "claude-mem-core"}}


def _json(value: object, *path: str) -> tuple[str, bytes]:
    return os.path.join(*path), (json.dumps(value, indent=2) + "\n").encode()


def _skills() -> Iterator[tuple[str, bytes]]:
    """The core's skills, the same that `mem install` writes for other hosts."""
    for found in sorted(resources("claude_mem_core").joinpath("skills").iterdir(), key=str):
        text = found.joinpath("SKILL.md")
        if text.is_file():
            yield found.name, text.read_bytes()
