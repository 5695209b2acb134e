"""An installer for hosts that keep hooks in a JSON file and start them through a shell.

A host says where its file lies, which events it has, and how long it waits for a hook,
in its own unit; the rest is here: the plan to install, to repeat, to renew, to undo.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from claude_mem_core.editing.commands import shell_words, starts_us
from claude_mem_core.editing.files import read_config
from claude_mem_core.editing.hookgroups import Group, HookGroups
from claude_mem_core.editing.jsonedit import Json
from claude_mem_core.editing.restore import restored
from claude_mem_core.editing.servers import JsonServers
from claude_mem_core.editing.text import decode, encode
from claude_mem_core.errors import HostConfigError
from claude_mem_core.types import FileChange, HostSetup, HostStatus, McpStatus


def opened(content: bytes | None, name: str) -> Json:
    """The file for editing; an absent or blank one as an empty object.

    Raises:
        HostConfigError: it is no JSON object; the text names file, line and column.
    """
    text = decode(content or b"", name)
    return Json(text if text.strip("\ufeff \t\r\n") else "{}\n", name)


def readable(content: bytes | None, name: str) -> Json | None:
    """The same; None where it can't be read or there is nothing."""
    try:
        return None if content is None else opened(content, name)
    except HostConfigError:
        return None


class JsonHooksInstaller:
    """Base of installers. A host inherits it and names what differs.

    Attributes:
        host: name of the host record.
        title: the program's name as people write it.
        program: its command.
        timeouts: how long the host waits, by event, in its own unit.
        matchers: the tools a hook is for, by event; events without one have no matcher.
        waits: further words for our client, by event.
    """

    host: ClassVar[str]
    title: ClassVar[str]
    program: ClassVar[str]
    timeouts: ClassVar[Mapping[str, int]]
    matchers: ClassVar[Mapping[str, str]] = {}
    waits: ClassVar[Mapping[str, Sequence[str]]] = {}

    @property
    def events(self) -> Sequence[str]:
        """The host's events that our hooks are for."""
        return tuple(self.timeouts)

    def folder_of(self, setup: HostSetup) -> str:
        """The host's own folder in the user's home."""
        raise NotImplementedError

    def file_of(self, setup: HostSetup) -> str:
        """The file with the hooks.

        Raises:
            HostConfigError: another scope than the user's was asked for.
        """
        raise NotImplementedError

    def servers_of(self, setup: HostSetup) -> JsonServers | None:
        """Where the host keeps its MCP servers; None when not in JSON of ours to write."""
        return None

    def server(self, setup: HostSetup) -> dict[str, Any]:
        """Our MCP server as the host reads it."""
        program, *args = setup.mcp
        return {"command": program, "args": [*args, self.host]}

    def problems(self, setup: HostSetup, doc: Json, ours: Mapping[str, Group]) -> Iterator[str]:
        """What would keep our hooks from working, as far as the host's files say it."""
        yield from ()

    def groups(self, setup: HostSetup) -> dict[str, Group]:
        """The group of hooks for each event.

        Raises:
            HostConfigError: the data directory's path can't be quoted for a shell.
        """
        return {event: self._group(event, setup.argv) for event in self.events}

    def _group(self, event: str, argv: Sequence[str]) -> Group:
        hook = {
            "type": "command",
            "command": self.command(event, argv),
            "timeout": self.timeouts[event],
        }
        head = {"matcher": self.matchers[event]} if event in self.matchers else {}
        return {**head, "hooks": [hook]}

    def command(self, event: str, argv: Sequence[str]) -> str:
        """The command line of one hook.

        Raises:
            HostConfigError: the data directory's path can't be quoted for a shell.
        """
        words = [*argv, self.host, event, *self.waits.get(event, ())]
        return shell_words(words, self.title)

    def hooks_in(self, group: Group) -> list[Any]:
        """The hooks of one of our groups."""
        return list(group["hooks"])

    @property
    def edit(self) -> HookGroups:
        """The editor of our groups in the file."""
        return HookGroups(self.events, self._mine)

    def _mine(self, hook: object) -> bool:
        return isinstance(hook, dict) and starts_us(hook.get("command"), self.host)

    # The plans -------------------------------------------------------------------

    def status(self, setup: HostSetup) -> HostStatus:
        """Whether the host is here, whether we are in it, and what is wrong."""
        file = self.file_of(setup)
        ours: dict[str, Group] = {}
        said: tuple[str, ...] = ()
        try:
            doc = opened(read_config(file), file)
            ours = self.edit.found(doc)
            said = tuple(self.problems(setup, doc, ours)) if ours else ()
        except HostConfigError as error:
            said = (str(error),)
        found = shutil.which(self.program, path=setup.env.get("PATH"))
        return HostStatus(
            detected=bool(found) or os.path.isdir(self.folder_of(setup)),
            installed=set(ours) >= set(self.events),
            config=file,
            problems=(*gone(map(self.hooks_in, ours.values())), *said),
        )

    def install(self, setup: HostSetup) -> Sequence[FileChange]:
        """The file with our hooks; nothing when they are there already.

        Raises:
            HostConfigError: the file can't be edited; it is left as it is.
        """
        file = self.file_of(setup)
        before = read_config(file)
        servers = self._beside(setup)
        entry = self.server(setup) if setup.mcp and servers is not None else None
        after = self._with(before, file, self.groups(setup), servers, entry)
        return changed(file, before, after)

    def uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The file as it was, or without our part where others wrote meanwhile.

        Raises:
            HostConfigError: the file can't be edited; it is left as it is.
        """
        file = self.file_of(setup)
        now = read_config(file)
        if now is None:
            return []
        groups = self.edit.found(opened(now, file))
        servers = self._beside(setup)
        entry = servers.entry(now) if servers is not None else None
        if not groups and entry is None:
            return changed(file, now, self._without(now, file, now, None))

        def again(content: bytes | None) -> bytes:
            return self._with(content, file, groups, servers, entry)

        def ours(content: bytes) -> bool:
            known = servers is not None and servers.entry(content) is not None
            return known or self._holds(content, file)

        before = restored(setup.data_dir, file, now, again, ours)
        if before.proven:
            return changed(file, now, before.content)
        left = self._without(now, file, before.content, servers)
        return changed(file, now, None if before.made and left.strip() == b"{}" else left)

    def mcp_status(self, setup: HostSetup) -> McpStatus:
        """Whether our server stands in the host's configuration."""
        servers = self.servers_of(setup)
        return McpStatus(registered=False) if servers is None else servers.status()

    def mcp_install(self, setup: HostSetup) -> Sequence[FileChange]:
        """The configuration with our server.

        Raises:
            HostConfigError: the file can't be edited; it is left as it is.
        """
        servers = self.servers_of(setup)
        return () if servers is None else servers.install(self.server(setup))

    def mcp_uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The configuration without it. Raises as `mcp_install` does."""
        servers = self.servers_of(setup)
        return () if servers is None else servers.uninstall(setup)

    def _beside(self, setup: HostSetup) -> JsonServers | None:
        """The servers, when they stand in the same file as the hooks."""
        servers = self.servers_of(setup)
        return servers if servers is not None and servers.path == self.file_of(setup) else None

    def _with(
        self,
        content: bytes | None,
        file: str,
        groups: Mapping[str, Group],
        servers: JsonServers | None,
        entry: Mapping[str, Any] | None,
    ) -> bytes:
        doc = opened(content, file)
        if groups:
            self.edit.put(doc, groups)
        made = encode(doc.text, file)
        return made if servers is None or entry is None else servers.put(made, entry)

    def _without(
        self, content: bytes, file: str, before: bytes | None, servers: JsonServers | None
    ) -> bytes:
        content = content if servers is None else servers.take(content, before)
        doc = opened(content, file)
        self.edit.take(doc, readable(before, file))
        return encode(doc.text, file)

    def _holds(self, content: bytes, file: str) -> bool:
        doc = readable(content, file)
        try:
            return doc is not None and bool(self.edit.found(doc))
        except HostConfigError:
            return False


def gone(groups: Iterable[Iterable[Mapping[str, Any]]]) -> Iterator[str]:
    """A word when the program that our hooks start is not there any more."""
    import shlex

    for group in groups:
        for hook in group:
            words = shlex.split(str(hook.get("command", ""))) if os.name != "nt" else []
            if words and os.path.isabs(words[0]) and not os.path.exists(words[0]):
                yield f"the hooks start {words[0]}, which is gone; run `mem install` again"
                return


def changed(file: str, before: bytes | None, after: bytes | None) -> list[FileChange]:
    """The change of one file; none when there is no difference."""
    return [] if before == after else [FileChange(path=file, before=before, after=after)]


def only_user(setup: HostSetup, title: str) -> None:
    """Refuse scopes that the host has no hooks for.

    Raises:
        HostConfigError: another scope than the user's was asked for.
    """
    if setup.scope != "user":
        raise HostConfigError(f"{title} has our hooks for the user only; use --scope user")


def home_folder(setup: HostSetup, variable: str, default: str) -> str:
    """A host's folder: where its variable says, else `default` in the user's home."""
    named = setup.env.get(variable)
    return os.path.abspath(named) if named else os.path.join(setup.home, default)
