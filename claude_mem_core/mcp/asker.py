"""Who asks, and what he may see.

A client that runs in a project sees that project and its parents. What lies in others is
his only when the user allowed it (`mem mcp allow`), because a hostile checkout may be
speaking through the agent. Outside of every project, and over HTTP with the token, all is
open: that is the user himself, or a program that could read the files anyway.
"""

from __future__ import annotations

import apsw
import attrs

from claude_mem_core.errors import InvalidInput
from claude_mem_core.projects import Place, excluded
from claude_mem_core.settings import Settings
from claude_mem_core.store import projects
from claude_mem_core.worker.spec import Call

EVERY = frozenset({"*", "all"})
WHOLE_MACHINE = "CLAUDE_MEM_MCP_ALL_PROJECTS"
WRITES = "CLAUDE_MEM_MCP_WRITE"


@attrs.frozen
class Scope:
    """The projects of one answer.

    Attributes:
        project: label or id, as every query takes it; None for all projects.
        cwd: directory to take the project from, when it holds nothing yet.
    """

    project: str | None = None
    cwd: str = ""


@attrs.frozen
class Asker:
    """One client with one request.

    Attributes:
        client: name of the host that started the bridge, or what an HTTP client says.
        place: the project that it runs in; None when it does not say.
        cwd: its directory.
        call: the request to the worker.
        settings: as they are now.
    """

    client: str
    cwd: str
    place: Place | None
    call: Call
    settings: Settings

    @property
    def is_shut_out(self) -> bool:
        """Whether it runs in a place that the user excluded from the memory."""
        return self.place is not None and excluded(self.place, self.cwd, self.settings)

    @property
    def is_wide(self) -> bool:
        """Whether it may see every project."""
        if self.place is None or self.place.kind == "general":
            return True
        return self._is_in(WHOLE_MACHINE)

    @property
    def may_write(self) -> bool:
        """Whether tools that change something are for it."""
        return self._is_in(WRITES)

    def _is_in(self, setting: str) -> bool:
        return (
            not EVERY.isdisjoint(self.settings[setting])
            or self.client in self.settings[setting]
        )

    def scope(self, conn: apsw.Connection, named: str | None) -> Scope:
        """What an answer may hold when the client names this project.

        Raises:
            InvalidInput: it may not see that one; the text names the command.
        """
        name = (named or "").strip()
        if self.is_wide:
            return Scope(None if not name or name in EVERY else name)
        assert self.place is not None
        own = projects.known(conn, self.place)
        mine = projects.find(conn, own.id) if own else []
        if name and (name in EVERY or not self._is_own(conn, name, mine)):
            raise InvalidInput(
                f"only memories of this project ({self.place.label}) are open to this client;"
                f" the user can open all with `mem mcp allow {self.client} --all-projects`"
            )
        if name:
            return Scope(name)
        # Of a project that is not known yet there is nothing; no id is 0.
        return Scope(str(own.id) if own else "0", self.cwd)

    def _is_own(self, conn: apsw.Connection, name: str, mine: list[int]) -> bool:
        assert self.place is not None
        found = projects.find(conn, name)
        return set(found) <= set(mine) if found else name == self.place.label
