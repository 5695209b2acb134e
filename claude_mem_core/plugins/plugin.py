"""One installed plugin and how far it got."""

from __future__ import annotations

from enum import StrEnum

import attrs

from claude_mem_core.plugins.entry import Entry
from claude_mem_core.plugins.kinds import kind_of


class State(StrEnum):
    """How far a plugin got."""

    FOUND = "found"
    LOADED = "loaded"
    BLOCKED = "blocked"
    REFUSED = "refused"
    BROKEN = "broken"


@attrs.define
class Plugin:
    """One entry point and what became of it.

    Attributes:
        error: its last fault, or why it is blocked or refused; empty when all is well.
        hooks: the hooks it implements, known once it was imported.
    """

    entry: Entry
    state: State = State.FOUND
    error: str = ""
    hooks: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def kind(self) -> str:
        return kind_of(self.entry.name)

    @property
    def package(self) -> str:
        return self.entry.package

    @property
    def version(self) -> str:
        return self.entry.version

    @property
    def label(self) -> str:
        return f"{self.name} ({self.package} {self.version})"
