"""An installer for hosts that load a file of JavaScript from a folder of theirs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from claude_mem_core.editing.inprocess import MARK, script
from claude_mem_core.editing.jsonhooks import only_user
from claude_mem_core.editing.ownfile import OwnFile
from claude_mem_core.editing.servers import JsonServers
from claude_mem_core.errors import HostConfigError
from claude_mem_core.types import FileChange, HostSetup, HostStatus, McpStatus


class ScriptInstaller:
    """Base of installers. A host inherits it and names what differs.

    Attributes:
        host: name of the host record.
        title: the program's name as people write it.
        program: its command.
        part: the host's own part of the script.
    """

    host: ClassVar[str]
    title: ClassVar[str]
    program: ClassVar[str]
    part: ClassVar[Path]

    def folder_of(self, setup: HostSetup) -> str:
        """The host's own folder in the user's home."""
        raise NotImplementedError

    def path_of(self, setup: HostSetup) -> str:
        """Where our file lies."""
        raise NotImplementedError

    def servers_of(self, setup: HostSetup) -> JsonServers:
        """Where the host keeps its MCP servers."""
        raise NotImplementedError

    def server(self, setup: HostSetup) -> dict[str, Any]:
        """Our MCP server as the host reads it."""
        program, *args = setup.mcp
        return {"command": program, "args": [*args, self.host]}

    def file_of(self, setup: HostSetup) -> OwnFile:
        """Our file.

        Raises:
            HostConfigError: another scope than the user's was asked for.
        """
        only_user(setup, self.title)
        return OwnFile(self.path_of(setup), MARK)

    def text_of(self, setup: HostSetup) -> bytes:
        """What our file has to hold."""
        part = self.part.read_text(encoding="utf-8")
        return script(self.host, setup.data_dir, setup.argv, part)

    # The plans -------------------------------------------------------------------

    def status(self, setup: HostSetup) -> HostStatus:
        """Whether the host is here, whether we are in it, and what is wrong."""
        file = self.file_of(setup)
        problems: tuple[str, ...] = ()
        installed = False
        try:
            now = file.content()
            installed = now is not None
            if installed and now != self.text_of(setup):
                problems = (f"{file.path} is of another version; run `mem install` again",)
        except HostConfigError as error:
            problems = (str(error),)
        found = shutil.which(self.program, path=setup.env.get("PATH"))
        return HostStatus(
            detected=bool(found) or os.path.isdir(self.folder_of(setup)),
            installed=installed,
            config=file.path,
            problems=problems,
        )

    def install(self, setup: HostSetup) -> Sequence[FileChange]:
        """Our file; nothing when it is there already.

        Raises:
            HostConfigError: somebody else's file has its name; it is left as it is.
        """
        return self.file_of(setup).write(self.text_of(setup))

    def uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """No file of ours any more."""
        return self.file_of(setup).remove()

    def mcp_status(self, setup: HostSetup) -> McpStatus:
        """Whether our server stands in the host's configuration."""
        return self.servers_of(setup).status()

    def mcp_install(self, setup: HostSetup) -> Sequence[FileChange]:
        """The configuration with our server.

        Raises:
            HostConfigError: the file can't be edited; it is left as it is.
        """
        return self.servers_of(setup).install(self.server(setup))

    def mcp_uninstall(self, setup: HostSetup) -> Sequence[FileChange]:
        """The configuration without it. Raises as `mcp_install` does."""
        return self.servers_of(setup).uninstall(setup)
