"""Plans the changes of Claude Code's settings; the core shows and makes them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

import attrs

from claude_mem_core.editing import Json, opened, read_config, restored
from claude_mem_core.errors import HostConfigError
from claude_mem_core.types import FileChange, HostSetup, HostStatus, McpStatus, SkillFolder
from claude_mem_host_claude_code import hooks, market, mcp, plugin, settings

QUIET = "disable-auto-memory"
PLUGIN = "plugin"
OLDEST = (2, 1, 139)  # older ones run `command` without `args`: our hooks would do nothing
VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
SECONDS = 5


@attrs.frozen
class File:
    """The settings file of a scope.

    Attributes:
        path: absolute.
        inside: folder that it may not leave by a link; None in the user's own home.
        mode: permission when it is made.
    """

    path: str
    inside: str | None
    mode: int


def file_of(setup: HostSetup) -> File:
    """Which file a scope means.

    Raises:
        HostConfigError: there is no such scope.
    """
    if setup.scope == "user":
        return File(os.path.join(config_dir(setup), "settings.json"), None, 0o600)
    names = {"project": "settings.json", "local": "settings.local.json"}
    if setup.scope not in names or not setup.project:
        raise HostConfigError("Claude Code has the scopes user, project and local")
    path = os.path.join(setup.project, ".claude", names[setup.scope])
    return File(path, setup.project, 0o644)


def config_dir(setup: HostSetup) -> str:
    """`CLAUDE_CONFIG_DIR`, else `~/.claude`."""
    named = setup.env.get("CLAUDE_CONFIG_DIR")
    return os.path.abspath(named) if named else os.path.join(setup.home, ".claude")


class ClaudeCodeInstaller:
    """Puts our hooks into `settings.json` and takes them out again."""

    def status(self, setup: HostSetup) -> HostStatus:
        """Whether Claude Code is here, whether we are in it, and what is wrong."""
        program = shutil.which("claude", path=setup.env.get("PATH"))
        version = version_of(program, setup) if program else ""
        file = file_of(setup)
        problems = _too_old(version)
        try:
            doc = opened(read_config(file.path, file.inside), file.path)
            present, plugged = hooks.found(doc), plugin.where(doc) is not None
            problems += (*_problems(doc, present), *plugin.problems(doc))
        except HostConfigError as error:
            present, plugged = {}, False
            problems += (str(error),)
        return HostStatus(
            detected=bool(program) or os.path.isdir(config_dir(setup)),
            installed=plugged or set(present) >= set(hooks.TIMEOUTS),
            version=version,
            config=file.path,
            problems=problems,
        )

    def install(self, setup: HostSetup) -> Sequence[FileChange]:
        """The settings with our hooks, or with our plugin; nothing when it is there already.

        Who has the plugin keeps it, also when it is not asked for again.

        Raises:
            HostConfigError: the file can't be edited; it is left as it is.
        """
        file = file_of(setup)
        if _as_plugin(setup):
            return plugin.install(setup, file.path)
        before = read_config(file.path, file.inside)
        quiet = QUIET in setup.options
        after = settings.with_hooks(before, file.path, hooks.wanted(setup.argv), quiet)
        memo = Memo.read(setup.data_dir)
        if quiet and file.path not in memo.switches:
            memo = memo.noted(file.path, settings.switch(before, file.path))
        return [*_change(file, before, after), *memo.changes()]

    def uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The settings as they were, or without our part where others wrote meanwhile.

        Raises:
            HostConfigError: the file can't be edited; it is left as it is.
        """
        file = file_of(setup)
        if _as_plugin(setup):
            return plugin.uninstall(setup, file.path)
        now = read_config(file.path, file.inside)
        memo = Memo.read(setup.data_dir)
        if now is None:
            return memo.noted(file.path, None).changes()
        after = self._without(setup, file, now, memo.switches.get(file.path))
        return [*_change(file, now, after), *memo.noted(file.path, None).changes()]

    def mcp_status(self, setup: HostSetup) -> McpStatus:
        """Whether our MCP server stands in Claude Code's configuration."""
        if _as_plugin(setup):
            path = market.server_file(setup)
            return McpStatus(registered=os.path.exists(path), config=path)
        return mcp.servers(setup).status()

    def mcp_install(self, setup: HostSetup) -> Sequence[FileChange]:
        """The configuration with our MCP server.

        Raises:
            HostConfigError: the file can't be edited; it is left as it is.
        """
        if _as_plugin(setup):
            return ()  # the plugin brings it
        return mcp.servers(setup).install(mcp.entry(setup))

    def mcp_uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The configuration without it. Raises as `mcp_install` does."""
        return mcp.servers(setup).uninstall(setup)

    def skill_folder(self, setup: HostSetup) -> SkillFolder | None:
        """Where Claude Code looks for skills in this scope; the plugin brings its own."""
        if _as_plugin(setup):
            return None
        return mcp.skill_folder(setup, config_dir(setup))

    def _without(
        self, setup: HostSetup, file: File, now: bytes, quiet: str | None
    ) -> bytes | None:
        groups = hooks.found(opened(now, file.path))
        if not groups and quiet is None:
            return settings.without_hooks(now, file.path, now)

        def again(content: bytes | None) -> bytes:
            return settings.with_hooks(content, file.path, groups, quiet is not None)

        def ours(content: bytes) -> bool:
            return _holds_ours(content, file.path)

        before = restored(setup.data_dir, file.path, now, again, ours)
        if before.proven:
            return before.content
        left = settings.without_hooks(now, file.path, before.content, quiet)
        return None if before.made and left.strip() == b"{}" else left


def _as_plugin(setup: HostSetup) -> bool:
    """Whether we are, or are to be, a plugin in this scope.

    Raises:
        HostConfigError: a plugin is asked for in a repository.
    """
    if setup.scope != "user":
        if PLUGIN in setup.options:
            raise HostConfigError("the plugin of Claude Code has the scope user only")
        return False
    try:
        file = file_of(setup)
        named = plugin.where(opened(read_config(file.path), file.path))
    except HostConfigError:
        named = None  # the work itself will say what is wrong with the file
    return PLUGIN in setup.options or named is not None


def _holds_ours(content: bytes, name: str) -> bool:
    try:
        return bool(hooks.found(opened(content, name)))
    except HostConfigError:
        return False


def _change(file: File, before: bytes | None, after: bytes | None) -> list[FileChange]:
    if before == after:
        return []
    change = FileChange(
        path=file.path, before=before, after=after, inside=file.inside, mode=file.mode
    )
    return [change]


@attrs.frozen
class Memo:
    """What we must know to undo `--disable-auto-memory`: the value before, by file."""

    path: str
    raw: bytes | None
    switches: dict[str, str]

    @classmethod
    def read(cls, data_dir: str) -> Memo:
        path = os.path.join(data_dir, "hosts", "claude-code.json")
        raw = read_config(path)
        try:
            found: Any = json.loads(raw or b"{}")
        except ValueError:
            found = {}
        switches = found.get("auto_memory") if isinstance(found, dict) else {}
        return cls(path, raw, dict(switches) if isinstance(switches, dict) else {})

    def noted(self, file: str, value: str | None) -> Memo:
        """With this value for the file; None forgets it."""
        left = {name: old for name, old in self.switches.items() if name != file}
        return attrs.evolve(self, switches=left if value is None else {**left, file: value})

    def changes(self) -> list[FileChange]:
        body = json.dumps({"auto_memory": self.switches}, indent=2) + "\n"
        after = body.encode() if self.switches else None
        if after == self.raw:
            return []
        return [FileChange(path=self.path, before=self.raw, after=after)]


def version_of(program: str, setup: HostSetup) -> str:
    """What `claude --version` says; empty when it says nothing in time."""
    try:
        done = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
            env=dict(setup.env),
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    found = VERSION.search(done.stdout)
    return found[0] if found else ""


def _too_old(version: str) -> tuple[str, ...]:
    found = VERSION.match(version)
    if not found or tuple(map(int, found.groups())) >= OLDEST:
        return ()
    need = ".".join(map(str, OLDEST))
    return (f"Claude Code {version} is too old for our hooks; update to {need} or newer",)


def _problems(doc: Json, present: dict[str, hooks.Group]) -> tuple[str, ...]:
    """What in the settings would keep our hooks from doing their work."""
    said = []
    off = doc.find("disableAllHooks")
    if off is not None and doc.value(off) is True:
        said.append(f"{doc.name} says disableAllHooks: no hook runs")
    for hook in (h for group in present.values() for h in group["hooks"]):
        program = str(hook.get("command", ""))
        if os.path.isabs(program) and not os.path.exists(program):
            said.append(f"the hooks start {program}, which is gone; run `mem install` again")
            break
    plugins = doc.find("enabledPlugins")
    names = plugins.keys if plugins is not None else []
    if any(name.startswith("claude-mem@") for name in names):
        said.append("the plugin claude-mem is enabled as well: both will remember")
    return tuple(said)
