"""A whole installer for programs without hooks, which can only be given our MCP server."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from claude_mem_core.editing.jsonhooks import only_user
from claude_mem_core.editing.servers import JsonServers
from claude_mem_core.types import (
    Answer,
    Delivery,
    Event,
    FileChange,
    HostSetup,
    HostStatus,
    McpStatus,
    Output,
)


class SendsNothing:
    """The adapter of a program that has no hooks."""

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """Nothing, ever."""
        return []

    def reply(self, answer: Answer) -> Output:
        """Nothing, ever."""
        return Output()


class McpOnlyInstaller:
    """Keeps our server in one JSON file of the user's.

    Args:
        host: the host's name, by which the server knows its client.
        title: its name for people.
        file: where the file lies.
        keys: names that lead to the object of servers.
    """

    def __init__(
        self,
        host: str,
        title: str,
        file: Callable[[HostSetup], str],
        keys: tuple[str, ...] = ("mcpServers",),
    ) -> None:
        self._host, self._title, self._file, self._keys = host, title, file, keys

    def status(self, setup: HostSetup) -> HostStatus:
        """Whether the program's folder is there, and our server in its file."""
        found, path = self.mcp_status(setup), self._file(setup)
        return HostStatus(
            detected=os.path.isdir(os.path.dirname(path)),
            installed=found.registered,
            config=path,
            problems=found.problems,
        )

    def install(self, setup: HostSetup) -> Sequence[FileChange]:
        """The file with our server; nothing where none is wanted.

        Raises:
            HostConfigError: the file can't be edited; it is left as it is.
        """
        only_user(setup, self._title)
        return self.mcp_install(setup) if setup.mcp else ()

    def uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The file without it. Raises as `install` does."""
        return self.mcp_uninstall(setup)

    def mcp_status(self, setup: HostSetup) -> McpStatus:
        """Whether our server stands in the file."""
        return self._servers(setup).status()

    def mcp_install(self, setup: HostSetup) -> Sequence[FileChange]:
        """The file with our server. Raises as `install` does."""
        program, *args = setup.mcp
        return self._servers(setup).install({"command": program, "args": [*args, self._host]})

    def mcp_uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The file without it. Raises as `install` does."""
        return self._servers(setup).uninstall(setup)

    def _servers(self, setup: HostSetup) -> JsonServers:
        return JsonServers(self._file(setup), self._keys)
