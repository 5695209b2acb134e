"""Brings our plugin to OpenClaw: its files in our data directory, named in its config."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from claude_mem_core.editing import (
    Json,
    JsonServers,
    changed,
    encode,
    only_user,
    opened,
    read_config,
    readable,
    restored,
)
from claude_mem_core.editing import jsonpaths as paths
from claude_mem_core.editing.inprocess import script
from claude_mem_core.errors import HostConfigError
from claude_mem_core.types import FileChange, HostSetup, HostStatus, McpStatus

HOST = "openclaw"
TITLE = "OpenClaw"
PARTS = [Path(__file__).with_name(name) for name in ("plugin.mjs", "feed.mjs")]
LOADED = ("plugins", "load", "paths")
ENTRY = ("plugins", "entries", "claude-mem")
ALLOWED = ("plugins", "allow")
# Without it OpenClaw calls none of our hooks on prompts and turns, and says nothing.
WANTED = {"enabled": True, "hooks": {"allowConversationAccess": True}}
# New observations as messages to a channel of OpenClaw's.
FEED = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "enabled": {"type": "boolean"},
        "channel": {"type": "string"},
        "to": {"type": "string"},
    },
}
NOT_ALLOWED = "{} lists the plugins it allows in plugins.allow, and claude-mem is not there"
OFF = "{} says enabled = false for our plugin"


def state_of(setup: HostSetup) -> str:
    """`OPENCLAW_STATE_DIR`, else `~/.openclaw`."""
    named = setup.env.get("OPENCLAW_STATE_DIR")
    return os.path.abspath(named) if named else os.path.join(setup.home, ".openclaw")


def config_of(setup: HostSetup) -> str:
    """`OPENCLAW_CONFIG_PATH`, else `openclaw.json` in its folder.

    Raises:
        HostConfigError: another scope was asked for.
    """
    only_user(setup, TITLE)
    named = setup.env.get("OPENCLAW_CONFIG_PATH")
    return os.path.abspath(named) if named else os.path.join(state_of(setup), "openclaw.json")


def folder_of(setup: HostSetup) -> str:
    """Where our plugin lies."""
    return os.path.join(setup.data_dir, "hosts", "openclaw")


def files_of(setup: HostSetup) -> dict[str, bytes]:
    """The plugin's files, by path."""
    package = {
        "name": "claude-mem",
        "version": "0.1.0",
        "private": True,
        "type": "module",
        "openclaw": {"extensions": ["./index.js"]},
    }
    manifest = {
        "id": "claude-mem",
        "name": "claude-mem",
        "description": "A memory for agents",
        "activation": {"onStartup": True},
        "configSchema": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"observationFeed": FEED},
        },
    }
    part = "".join(file.read_text(encoding="utf-8") for file in PARTS)
    text = script(HOST, setup.data_dir, setup.argv, part)
    made = {
        "package.json": json.dumps(package, indent=2).encode() + b"\n",
        "openclaw.plugin.json": json.dumps(manifest, indent=2).encode() + b"\n",
        "index.js": text,
    }
    return {os.path.join(folder_of(setup), name): body for name, body in made.items()}


class OpenClawInstaller:
    """Names the plugin and our MCP server in OpenClaw's config, and undoes both."""

    def status(self, setup: HostSetup) -> HostStatus:
        """Whether OpenClaw is here, whether we are in it, and what is wrong."""
        config = config_of(setup)
        problems: tuple[str, ...] = ()
        installed = False
        try:
            doc = opened(read_config(config), config)
            installed = _named(doc, folder_of(setup)) and _present(setup)
            problems = _problems(doc) if installed else ()
        except HostConfigError as error:
            problems = (str(error),)
        program = shutil.which("openclaw", path=setup.env.get("PATH"))
        return HostStatus(
            detected=bool(program) or os.path.isdir(state_of(setup)),
            installed=installed,
            config=config,
            problems=problems,
        )

    def install(self, setup: HostSetup) -> Sequence[FileChange]:
        """The plugin's files and the config that names them.

        Raises:
            HostConfigError: the config can't be edited; it is left as it is.
        """
        config = config_of(setup)
        before = read_config(config)
        entry = server_of(setup) if setup.mcp else None
        after = _with(before, config, folder_of(setup), entry)
        files = [
            change
            for path, body in files_of(setup).items()
            for change in changed(path, read_config(path), body)
        ]
        return [*files, *changed(config, before, after)]

    def uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The config as it was, or without our part, and no files of ours.

        Raises:
            HostConfigError: the config can't be edited; it is left as it is.
        """
        config = config_of(setup)
        now = read_config(config)
        left = now if now is None else self._without(setup, config, now)
        files = [
            change
            for path in files_of(setup)
            for change in changed(path, read_config(path), None)
        ]
        return [*changed(config, now, left), *files]

    def _without(self, setup: HostSetup, config: str, now: bytes) -> bytes | None:
        folder = folder_of(setup)
        entry = servers(setup).entry(now)
        if entry is None and not _holds(now, config, folder):
            return now

        def again(content: bytes | None) -> bytes:
            return _with(content, config, folder, entry)

        def ours(content: bytes) -> bool:
            return _holds(content, config, folder) or servers(setup).entry(content) is not None

        before = restored(setup.data_dir, config, now, again, ours)
        if before.proven:
            return before.content
        left = _taken(servers(setup).take(now, before.content), config, folder, before.content)
        return None if before.made and left.strip() == b"{}" else left

    # Our MCP server ----------------------------------------------------------

    def mcp_status(self, setup: HostSetup) -> McpStatus:
        """Whether our server stands in the config."""
        return servers(setup).status()

    def mcp_install(self, setup: HostSetup) -> Sequence[FileChange]:
        """The config with our server.

        Raises:
            HostConfigError: the file can't be edited; it is left as it is.
        """
        return servers(setup).install(server_of(setup))

    def mcp_uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The config without it. Raises as `mcp_install` does."""
        return servers(setup).uninstall(setup)


def servers(setup: HostSetup) -> JsonServers:
    """Its MCP servers, in the same file."""
    return JsonServers(config_of(setup), ("mcp", "servers"))


def server_of(setup: HostSetup) -> dict[str, object]:
    """Our MCP server as OpenClaw reads it."""
    program, *args = setup.mcp
    return {"command": program, "args": [*args, HOST]}


def _with(
    content: bytes | None, config: str, folder: str, entry: dict[str, object] | None
) -> bytes:
    doc = opened(content, config)
    paths.append(doc, LOADED, folder)
    if not _access(doc):
        paths.put(doc, ENTRY, WANTED)
    made = encode(doc.text, config)
    return made if entry is None else JsonServers(config, ("mcp", "servers")).put(made, entry)


def _access(doc: Json) -> bool:
    """Whether our entry is there as it has to be; what its user adds to it stays."""
    node = doc.find(*ENTRY, "hooks", "allowConversationAccess")
    return node is not None and doc.value(node) is True


def _taken(content: bytes, config: str, folder: str, before: bytes | None) -> bytes:
    doc, old = opened(content, config), readable(before, config)
    paths.drop_item(doc, LOADED, folder)
    paths.drop(doc, ENTRY)
    for keys in (LOADED, ENTRY[:-1]):
        paths.tidy(doc, keys, old)
    return encode(doc.text, config)


def _named(doc: Json, folder: str) -> bool:
    node = doc.find(*LOADED)
    values = doc.value(node) if node is not None and node.kind == "array" else []
    return folder in values and _access(doc)


def _holds(content: bytes, config: str, folder: str) -> bool:
    doc = readable(content, config)
    if doc is None:
        return False
    node = doc.find(*LOADED)
    listed = doc.value(node) if node is not None and node.kind == "array" else []
    return folder in listed or doc.find(*ENTRY) is not None


def _present(setup: HostSetup) -> bool:
    return all(os.path.exists(path) for path in files_of(setup))


def _problems(doc: Json) -> tuple[str, ...]:
    said = []
    allowed = doc.find(*ALLOWED)
    if (
        allowed is not None
        and allowed.kind == "array"
        and "claude-mem" not in doc.value(allowed)
    ):
        said.append(NOT_ALLOWED.format(doc.name))
    enabled = doc.find(*ENTRY, "enabled")
    if enabled is not None and doc.value(enabled) is False:
        said.append(OFF.format(doc.name))
    return tuple(said)
