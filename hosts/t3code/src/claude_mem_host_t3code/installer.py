"""T3 Code runs other hosts: it has no hooks of its own, and its settings are only read."""

from __future__ import annotations

import os
from collections.abc import Sequence

from claude_mem_core.editing import only_user, read_config
from claude_mem_core.errors import HostConfigError
from claude_mem_core.types import FileChange, HostSetup, HostStatus, RunHost
from claude_mem_host_t3code import providers

TITLE = "T3 Code"
NO_SETTINGS = (
    "{} is not there: open T3 Code once and set up a Codex or Claude Code provider, or name"
    " the settings of its server with CLAUDE_MEM_T3CODE_SETTINGS_PATH"
)
NO_PROVIDER = (
    "{} names no Codex or Claude Code provider that is switched on: add one in T3 Code, then"
    " run `mem install --ide t3code`"
)


class T3CodeInstaller:
    """Finds the homes of the hosts that T3 Code runs."""

    def status(self, setup: HostSetup) -> HostStatus:
        """Whether T3 Code is here, and whether its settings can be read.

        Raises:
            HostConfigError: another scope than the user's was asked for.
        """
        only_user(setup, TITLE)
        path = providers.settings_path(setup)
        try:
            self.hosts(setup, remove=False)
            problems: tuple[str, ...] = ()
        except HostConfigError as error:
            problems = (str(error),)
        there = os.path.exists(path)
        return HostStatus(
            detected=there, installed=False, config=path, problems=problems if there else ()
        )

    def install(self, setup: HostSetup) -> Sequence[FileChange]:
        """Nothing: T3 Code's own files are never written."""
        return ()

    def uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """Nothing, likewise."""
        return ()

    def hosts(self, setup: HostSetup, *, remove: bool) -> Sequence[RunHost]:
        """Codex CLI and Claude Code as T3 Code is set up to run them.

        Raises:
            HostConfigError: the settings are missing, can't be read, or name neither.
        """
        only_user(setup, TITLE)
        path = providers.settings_path(setup)
        raw = read_config(path)
        if raw is None and remove:
            return ()
        if raw is None:
            raise HostConfigError(NO_SETTINGS.format(path))
        found = providers.run_hosts(raw, path, setup, remove=remove)
        if not found and not remove:
            raise HostConfigError(NO_PROVIDER.format(path))
        return found
