"""Plans the changes of Kimi Code's config; the core shows and makes them.

Kimi Code knows four fields of a hook and drops the whole section over a fifth, so there
is nothing of ours but those, between two comments. Commands go through a shell there.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from claude_mem_core.editing import (
    LAUNCH_MARK,
    JsonServers,
    TomlBlock,
    changed,
    decode,
    encode,
    home_folder,
    only_user,
    read_config,
    restored,
    shell_words,
    starts_us,
)
from claude_mem_core.editing.tomlblock import parsed
from claude_mem_core.errors import HostConfigError
from claude_mem_core.types import FileChange, HostSetup, HostStatus, McpStatus, SkillFolder
from claude_mem_host_kimi import mcp

HOST = "kimi"

# Seconds until Kimi Code gives up on a hook; ours end long before.
TIMEOUTS = {
    "SessionStart": 60,
    "UserPromptSubmit": 60,
    "PostToolUse": 120,
    "PostToolUseFailure": 120,
    "Stop": 120,
    "StopFailure": 60,
    "SubagentStop": 60,
    "PreCompact": 60,
    "PostCompact": 60,
    "SessionEnd": 60,
}

# The context comes with the prompt here, so this hook waits for a starting worker.
WAITS = {"UserPromptSubmit": ("--wait", "3")}


def is_ours(table: Mapping[str, Any]) -> bool:
    """Whether a hook starts our client for this host."""
    return starts_us(table.get("command"), HOST)


BLOCK = TomlBlock("hooks", is_ours)


def home_of(setup: HostSetup) -> str:
    """`KIMI_CODE_HOME`, else `~/.kimi-code`."""
    return home_folder(setup, "KIMI_CODE_HOME", ".kimi-code")


def config_of(setup: HostSetup) -> str:
    """The one file; Kimi Code reads no hooks from a project.

    Raises:
        HostConfigError: another scope was asked for.
    """
    only_user(setup, "Kimi Code")
    return os.path.join(home_of(setup), "config.toml")


def block_of(argv: Sequence[str]) -> str:
    """The text of our tables. A JSON string is a TOML string, too."""
    tables = []
    for event, timeout in TIMEOUTS.items():
        words = [*argv, HOST, event, *WAITS.get(event, ())]
        command = json.dumps(shell_words(words, "Kimi Code"), ensure_ascii=False)
        lines = (f'event = "{event}"', f"command = {command}", f"timeout = {timeout}")
        tables.append("\n".join(("[[hooks]]", *lines)))
    return "\n\n".join(tables)


class KimiInstaller:
    """Puts our hooks into `config.toml` and takes them out again."""

    def status(self, setup: HostSetup) -> HostStatus:
        """Whether Kimi Code is here, whether we are in it, and what is wrong."""
        config = config_of(setup)
        problems: tuple[str, ...] = ()
        events: set[str] = set()
        try:
            text = decode(read_config(config) or b"", config)
            tables = parsed(text, config).get("hooks")
            rows = tables if isinstance(tables, list) else []
            events = {str(t.get("event")) for t in rows if isinstance(t, dict) and is_ours(t)}
        except HostConfigError as error:
            problems = (str(error),)
        program = shutil.which("kimi", path=setup.env.get("PATH"))
        return HostStatus(
            detected=bool(program) or os.path.isdir(home_of(setup)),
            installed=events >= set(TIMEOUTS),
            config=config,
            problems=problems,
        )

    def install(self, setup: HostSetup) -> Sequence[FileChange]:
        """The config with our hooks; nothing when they are there already.

        Raises:
            HostConfigError: the file can't be edited; it is left as it is.
        """
        config = config_of(setup)
        before = read_config(config)
        after = _with(before, config, block_of(setup.argv))
        return changed(config, before, after)

    def uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The config as it was, or without our part where others wrote meanwhile.

        Raises:
            HostConfigError: the file can't be edited; it is left as it is.
        """
        config = config_of(setup)
        now = read_config(config)
        if now is None:
            return []
        body = BLOCK.body(decode(now, config)) or ""

        def again(content: bytes | None) -> bytes | None:
            return _with(content, config, body) if body else None

        before = restored(setup.data_dir, config, now, again, lambda old: LAUNCH_MARK in old)
        if before.proven:
            return changed(config, now, before.content)
        left = encode(BLOCK.take(decode(now, config), config), config)
        return changed(config, now, None if before.made and not left.strip() else left)

    def mcp_status(self, setup: HostSetup) -> McpStatus:
        """Whether our MCP server stands in Kimi Code's configuration."""
        return servers(setup).status()

    def mcp_install(self, setup: HostSetup) -> Sequence[FileChange]:
        """The configuration with our MCP server.

        Raises:
            HostConfigError: the file can't be edited; it is left as it is.
        """
        return servers(setup).install(mcp.entry(setup))

    def mcp_uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The configuration without it. Raises as `mcp_install` does."""
        return servers(setup).uninstall(setup)

    def skill_folder(self, setup: HostSetup) -> SkillFolder | None:
        """Where Kimi Code looks for the user's skills."""
        return SkillFolder(os.path.join(home_of(setup), "skills"))


def servers(setup: HostSetup) -> JsonServers:
    """Kimi Code's MCP servers; they have a file of their own.

    Raises:
        HostConfigError: another scope was asked for.
    """
    return JsonServers(os.path.join(os.path.dirname(config_of(setup)), "mcp.json"))


def _with(content: bytes | None, config: str, body: str) -> bytes:
    return encode(BLOCK.put(decode(content or b"", config), body, config), config)
