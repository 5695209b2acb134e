"""Gets into a taught program's own files, as far as its TOML file says where they are."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from claude_mem_core.editing import (
    JsonServers,
    OwnFile,
    only_user,
    read_config,
    restored,
    shell_words,
)
from claude_mem_core.errors import HostConfigError, MemError
from claude_mem_core.taught.commands import Commands, Wanted
from claude_mem_core.taught.files import SUFFIX, folder
from claude_mem_core.taught.spec import Spec
from claude_mem_core.types import FileChange, HostSetup, HostStatus, McpStatus

VARIABLE = re.compile(r"^\$(\w+)(?=/|$)")
PATIENCE = ("--wait", "3")  # seconds that a command may take whose output is awaited


class TaughtInstaller:
    """Keeps the TOML file where the worker finds it, and our commands in the program's file."""

    def __init__(self, spec: Spec, content: bytes) -> None:
        self._spec = spec
        self._content = content

    def status(self, setup: HostSetup) -> HostStatus:
        """Whether the file is known, and whether our commands stand where it says."""
        path = self._hooks_file(setup)
        problems: tuple[str, ...] = ()
        try:
            there = self._commands(path).found(read_config(path)) if path else set()
        except HostConfigError as error:
            there, problems = set(), (str(error),)
        known = read_config(self._own(setup)) is not None
        ready = not path or set(self._wanted(setup)) <= there
        return HostStatus(
            detected=known or bool(path and os.path.isdir(os.path.dirname(path))),
            installed=known and ready,
            config=path or self._own(setup),
            problems=problems,
        )

    def install(self, setup: HostSetup) -> Sequence[FileChange]:
        """The TOML file in our data directory, and our commands in the program's file.

        Raises:
            HostConfigError: a file can't be edited; it is left as it is.
        """
        only_user(setup, self._spec.label)
        path = self._hooks_file(setup)
        if not path:
            return self._kept(setup)
        before = read_config(path)
        after = self._commands(path).put(before, self._wanted(setup))
        return [*self._kept(setup), *_change(path, before, after)]

    def uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """Neither. What others wrote into the program's file stays.

        Raises:
            HostConfigError: a file can't be edited; it is left as it is.
        """
        path = self._hooks_file(setup)
        now = read_config(path) if path else None
        if now is None or not self._commands(path).found(now):
            return self._forgotten(setup)
        left = self._without(setup, path, now)
        return [*_change(path, now, left), *self._forgotten(setup)]

    def steps(self, setup: HostSetup) -> Sequence[str]:
        """What the user has to write into the program's own settings."""
        if self._spec.hooks:
            return ()
        return tuple(
            f"let {self._spec.label} run this at {word}, with JSON on its stdin:\n"
            f"    {self._command(setup, word)}"
            for word in self._spec.events
        )

    def _without(self, setup: HostSetup, path: str, now: bytes) -> bytes | None:
        commands, wanted = self._commands(path), self._wanted(setup)

        def again(content: bytes | None) -> bytes:
            return commands.put(content, wanted)

        def ours(content: bytes) -> bool:
            try:
                return bool(commands.found(content))
            except HostConfigError:
                return False

        before = restored(setup.data_dir, path, now, again, ours)
        if before.proven:
            return before.content
        left = commands.take(now, before.content)
        return None if before.made and left.strip() == b"{}" else left

    def _wanted(self, setup: HostSetup) -> Wanted:
        """The entry of each event, by its place in the program's file."""
        hooks = self._spec.hooks
        assert hooks is not None
        parts = hooks.at.split(".")
        return {
            tuple(part.replace("{event}", word) for part in parts): _filled(
                hooks.entry, self._command(setup, word)
            )
            for word in self._spec.events
        }

    def _command(self, setup: HostSetup, word: str) -> str:
        wait = PATIENCE if self._spec.events[word].context else ()
        return shell_words([*setup.argv, self._spec.name, word, *wait], self._spec.label)

    def _hooks_file(self, setup: HostSetup) -> str:
        return expanded(self._spec.hooks.file, setup) if self._spec.hooks else ""

    def _commands(self, path: str) -> Commands:
        return Commands(self._spec.name, path)

    def _kept(self, setup: HostSetup) -> Sequence[FileChange]:
        own = self._own(setup)
        return _change(own, read_config(own), self._content)

    def _forgotten(self, setup: HostSetup) -> Sequence[FileChange]:
        own = self._own(setup)
        return _change(own, read_config(own), None)

    def _own(self, setup: HostSetup) -> str:
        return os.path.join(folder(setup.data_dir), self._spec.name + SUFFIX)


class TaughtWithMcp(TaughtInstaller):
    """The same for a program that takes MCP servers, too."""

    def mcp_status(self, setup: HostSetup) -> McpStatus:
        """Whether our MCP server stands in the program's file."""
        return self._servers(setup).status()

    def mcp_install(self, setup: HostSetup) -> Sequence[FileChange]:
        """The file with our MCP server. One without events is all that there is to keep.

        Raises:
            HostConfigError: the file can't be edited; it is left as it is.
        """
        program, *args = setup.mcp
        entry = {"command": program, "args": [*args, self._spec.name]}
        changes = self._servers(setup).install(entry)
        return changes if self._spec.events else [*self._kept(setup), *changes]

    def mcp_uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The file without it. Raises as `mcp_install` does."""
        changes = self._servers(setup).uninstall(setup)
        return changes if self._spec.events else [*changes, *self._forgotten(setup)]

    def _servers(self, setup: HostSetup) -> JsonServers:
        assert self._spec.mcp is not None
        keys = tuple(self._spec.mcp.at.split("."))
        return JsonServers(expanded(self._spec.mcp.file, setup), keys)


class BrokenInstaller:
    """Stands for a known file that can't be read any more: it can only be taken away."""

    def __init__(self, name: str, path: str, error: MemError) -> None:
        self._file = OwnFile(path, b"")
        self._error = error

    def status(self, setup: HostSetup) -> HostStatus:
        """What is wrong with it."""
        return HostStatus(
            detected=True, installed=False, config=self._file.path,
            problems=(str(self._error),),
        )  # fmt: skip

    def install(self, setup: HostSetup) -> Sequence[FileChange]:
        """Never.

        Raises:
            MemError: what is wrong with the file.
        """
        raise self._error

    def uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The file taken away."""
        return self._file.remove()


def expanded(path: str, setup: HostSetup) -> str:
    """A path with `~` or `$NAME` at its beginning filled in.

    Raises:
        HostConfigError: the variable is not set to an absolute path.
    """
    if path.startswith("~/"):
        return os.path.join(setup.home, path[2:])
    found = VARIABLE.match(path)
    if found is None:
        return path
    value = setup.env.get(found[1], "")
    if not os.path.isabs(value):
        raise HostConfigError(
            f"{path}: {found[1]} is not set to an absolute path; `export {found[1]}=...` first"
        )
    return value + path[found.end() :]


def _filled(entry: Any, command: str) -> Any:
    if isinstance(entry, str):
        return entry.replace("{command}", command)
    if isinstance(entry, list):
        return [_filled(part, command) for part in entry]
    return (
        {k: _filled(v, command) for k, v in entry.items()} if isinstance(entry, dict) else entry
    )


def _change(path: str, before: bytes | None, after: bytes | None) -> list[FileChange]:
    return [] if before == after else [FileChange(path=path, before=before, after=after)]
