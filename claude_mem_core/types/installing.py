"""How we get into a host's files, and out of them again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import attrs


@attrs.frozen(kw_only=True)
class HostSetup:
    """Where and how to install into a host.

    Attributes:
        home: the user's home directory.
        env: the environment (for CLAUDE_CONFIG_DIR and its like).
        data_dir: our data directory; the hook files lie in `<data_dir>/hook`.
        argv: how a hook is started, without host and event:
            `[python, "-I", "-S", "-E", "-c", BOOT, "<data_dir>/hook/launch.py"]`.
        scope: `user`, `project` or `local`.
        project: the project's directory for the two other scopes.
        mcp: how our MCP server is started, without the host's name:
            `[python, "-I", "-S", "-E", "-c", BOOT, "<data_dir>/hook/bridge.py"]`; empty when
            it is not to be named in the host's configuration.
        options: what the user asked for beside it, by the name of its `mem` option.
    """

    home: str
    data_dir: str
    argv: Sequence[str]
    env: Mapping[str, str] = attrs.field(factory=dict)
    scope: str = "user"
    project: str = ""
    mcp: Sequence[str] = ()
    options: frozenset[str] = frozenset()


@attrs.frozen(kw_only=True)
class FileChange:
    """One file that an installer wants to be different.

    Attributes:
        path: absolute path.
        before: its bytes now; None when it does not exist.
        after: its bytes then; None to delete it.
        inside: directory that the path may not leave by a link (project scope).
        mode: permission of a new file.
    """

    path: str
    before: bytes | None
    after: bytes | None
    inside: str | None = None
    mode: int = 0o600


@attrs.frozen(kw_only=True)
class HostStatus:
    """What an installer finds: is the host there, are we in it, what is wrong."""

    detected: bool
    installed: bool
    version: str = ""
    config: str = ""
    problems: tuple[str, ...] = ()


class HostInstaller(Protocol):
    """Plans changes of a host's files; the core shows, backs up and applies them."""

    def status(self, setup: HostSetup) -> HostStatus: ...
    def install(self, setup: HostSetup) -> Sequence[FileChange]: ...
    def uninstall(self, setup: HostSetup) -> Sequence[FileChange]: ...


@runtime_checkable
class TellsUnready(Protocol):
    """What an installer may also know: what the host's user has yet to do.

    A session's context says it, because nobody looks for what silently does not run.
    """

    def unready(self, setup: HostSetup) -> Sequence[str]:
        """One line each, with the command that helps; nothing where all is well."""
        ...


@runtime_checkable
class TellsSteps(Protocol):
    """What an installer may also know: what it has to leave to the user.

    `mem install` prints it, each time.
    """

    def steps(self, setup: HostSetup) -> Sequence[str]:
        """One line each, with what is to be done by hand."""
        ...


@attrs.frozen(kw_only=True)
class RunHost:
    """A host that another program runs, in a home of that program's choice.

    Attributes:
        host: name of the host's record.
        env: what the program sets for it; names the home that is to be installed into.
        home: that home, for people.
        problems: what in the program's own settings keeps our hooks from running.
        refusal: why nothing can be installed there; empty where it can.
    """

    host: str
    env: Mapping[str, str]
    home: str
    problems: tuple[str, ...] = ()
    refusal: str = ""


@runtime_checkable
class RunsHosts(Protocol):
    """What an installer may also be: that of a program which only runs other hosts.

    Its own plans are empty. The core installs into each host that it runs, by that
    host's installer; one that fails does not stop the others.
    """

    def hosts(self, setup: HostSetup, *, remove: bool) -> Sequence[RunHost]:
        """The hosts that the program runs; to `remove`, also those switched off.

        Raises:
            HostConfigError: the program's settings can't be read.
        """
        ...


@attrs.frozen(kw_only=True)
class McpStatus:
    """Whether our MCP server stands in a host's configuration, and where that is."""

    registered: bool
    config: str = ""
    problems: tuple[str, ...] = ()


@runtime_checkable
class RegistersMcp(Protocol):
    """What an installer may also do: name our MCP server in the host's configuration.

    `mem install` adds these changes to those of `install`, `mem uninstall` to those of
    `uninstall`. An installer whose hooks stand in the same file writes and takes out
    both in `install` and `uninstall`; of a file that these change, the changes planned
    here are left out. `editing.JsonServers` is all of this for `{"mcpServers": {...}}`.
    """

    def mcp_status(self, setup: HostSetup) -> McpStatus: ...
    def mcp_install(self, setup: HostSetup) -> Sequence[FileChange]:
        """The configuration with our server, started by `[*setup.mcp, <host's name>]`."""
        ...

    def mcp_uninstall(self, setup: HostSetup) -> Sequence[FileChange]: ...


@attrs.frozen
class SkillFolder:
    """Where a host looks for skills: `<path>/<name>/SKILL.md`.

    `inside` is the folder that the path may not leave by a link (project scope).
    """

    path: str
    inside: str | None = None


@runtime_checkable
class HasSkills(Protocol):
    """What an installer may also know: where the host looks for skills.

    The core writes its own skill files there with `mem install` and takes them out
    again with `mem uninstall`.
    """

    def skill_folder(self, setup: HostSetup) -> SkillFolder | None:
        """None where the scope has none."""
        ...
