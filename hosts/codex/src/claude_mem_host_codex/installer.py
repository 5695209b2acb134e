"""Plans the changes of Codex CLI's hooks.json; the core shows and makes them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from claude_mem_core.editing import (
    Json,
    JsonHooksInstaller,
    changed,
    home_folder,
    only_user,
    opened,
    read_config,
    restored,
)
from claude_mem_core.editing.hookgroups import Group
from claude_mem_core.editing.servers import is_ours
from claude_mem_core.errors import HostConfigError
from claude_mem_core.types import FileChange, HostSetup, McpStatus
from claude_mem_host_codex import mcp, trust

UNTRUSTED = (
    "{} of our {} hooks are not trusted yet, and Codex runs none that is not: run `codex`"
    " and trust the hooks when it asks (or type /hooks)"
)
OFF = "{} says hooks = false under [features]: no hook runs"


class CodexInstaller(JsonHooksInstaller):
    """Puts our hooks into `hooks.json` and takes them out again."""

    host = "codex"
    title = "Codex CLI"
    program = "codex"
    # Seconds; it allows three for the last one, whatever is asked.
    timeouts = {  # noqa: RUF012 - one table, never changed
        "SessionStart": 60,
        "UserPromptSubmit": 60,
        "PostToolUse": 120,
        "Stop": 120,
        "SubagentStop": 120,
        "PreCompact": 60,
        "PostCompact": 60,
        "SessionEnd": 3,
    }

    def folder_of(self, setup: HostSetup) -> str:
        """`CODEX_HOME`, else `~/.codex`."""
        return home_folder(setup, "CODEX_HOME", ".codex")

    def file_of(self, setup: HostSetup) -> str:
        """The user's `hooks.json`."""
        only_user(setup, self.title)
        return os.path.join(self.folder_of(setup), "hooks.json")

    def config_of(self, setup: HostSetup) -> str:
        """Codex CLI's own settings, where it notes which hooks are trusted."""
        return os.path.join(self.folder_of(setup), "config.toml")

    def problems(self, setup: HostSetup, doc: Json, ours: Mapping[str, Group]) -> Iterator[str]:
        """What keeps our hooks from running: a switch, or trust not given."""
        config = self.config_of(setup)
        content = read_config(config)
        if trust.switched_off(content, config):
            yield OFF.format(config)
        expected = trust.wanted(doc, self.edit)
        missing = trust.untrusted(expected, trust.states(content, config))
        if missing:
            yield UNTRUSTED.format(len(missing), len(expected))

    def unready(self, setup: HostSetup) -> Sequence[str]:
        """How many of our hooks wait for trust: those that run say it for the others."""
        return self.status(setup).problems

    def uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The files as they were, without Codex's notes on the trust of our hooks.

        Raises:
            HostConfigError: a file can't be edited; it is left as it is.
        """
        return [*super().uninstall(setup), *self._config_without(setup, self._noted(setup))]

    def _noted(self, setup: HostSetup) -> Mapping[str, str]:
        """The keys under which Codex notes the trust of our hooks."""
        file = self.file_of(setup)
        now = read_config(file)
        return {} if now is None else trust.wanted(opened(now, file), self.edit)

    def _config_without(
        self, setup: HostSetup, keys: Mapping[str, str]
    ) -> Sequence[FileChange]:
        config = self.config_of(setup)
        now = read_config(config)
        if now is None:
            return []
        bare = trust.forgotten(now, config, keys)
        argv = _argv(bare, config)

        def again(content: bytes | None) -> bytes | None:
            return mcp.put(content, config, argv) if argv else None

        def ours(content: bytes) -> bool:
            return mcp.registered(content, config)

        before = restored(setup.data_dir, config, bare, again, ours)
        if before.proven:
            return changed(config, now, before.content)
        left = mcp.take(bare, config)
        return changed(config, now, None if before.made and not left.strip() else left)

    # Our MCP server ----------------------------------------------------------

    def mcp_status(self, setup: HostSetup) -> McpStatus:
        """Whether our server stands in the config."""
        config = self.config_of(setup)
        try:
            there = mcp.registered(read_config(config), config)
        except HostConfigError as error:
            return McpStatus(registered=False, config=config, problems=(str(error),))
        return McpStatus(registered=there, config=config)

    def mcp_install(self, setup: HostSetup) -> Sequence[FileChange]:
        """The config with our server.

        Raises:
            HostConfigError: the file can't be edited; it is left as it is.
        """
        only_user(setup, self.title)
        config = self.config_of(setup)
        before = read_config(config)
        return changed(config, before, mcp.put(before, config, [*setup.mcp, self.host]))

    def mcp_uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The config without it. Raises as `mcp_install` does."""
        return self._config_without(setup, {})


def _argv(content: bytes, config: str) -> list[str]:
    """The words that start our server, as they stand in the config."""
    for table in mcp.servers(content, config).values():
        if is_ours(table):
            return [str(table.get("command", "")), *map(str, table.get("args", ()))]
    return []
