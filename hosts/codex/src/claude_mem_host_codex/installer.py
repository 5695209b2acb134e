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
)
from claude_mem_core.editing.hookgroups import Group
from claude_mem_core.types import FileChange, HostSetup
from claude_mem_host_codex import trust

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

    def uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The file as it was, and Codex's notes on our hooks out of its config.

        Raises:
            HostConfigError: a file can't be edited; it is left as it is.
        """
        file, config = self.file_of(setup), self.config_of(setup)
        now = read_config(file)
        ours = trust.wanted(opened(now, file), self.edit) if now is not None else {}
        content = read_config(config) if ours else None
        left = trust.forgotten(content, config, ours)
        return [*super().uninstall(setup), *changed(config, content, left)]
