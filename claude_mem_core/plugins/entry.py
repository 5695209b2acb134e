"""What the index knows about an installed plugin."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from claude_mem_core import __version__

GROUP = "claude_mem"
OWN_PACKAGE = "claude-mem-core"


class Entry(NamedTuple):
    """One entry point: its name, `module` or `module:attribute`, and who ships it."""

    name: str
    value: str
    package: str
    version: str

    @property
    def own(self) -> bool:
        """Whether it is a part of the core: always loaded, never blocked."""
        return self in OWN

    def load(self) -> Any:
        """Import what the entry point names; raises whatever the plugin raises."""
        module, _, attribute = self.value.partition(":")
        found = import_module(module)
        for name in filter(None, attribute.split(".")):
            found = getattr(found, name)
        return found


class Package(NamedTuple):
    """A distribution with entry points of ours; `record` is a digest of its RECORD."""

    name: str
    version: str
    record: str
    origin: str


class Found(NamedTuple):
    """The result of a scan, third-party packages only."""

    entries: list[Entry]
    packages: list[Package]


# Named here and not only in the metadata: without the redactor text would be stored
# as it came, so a damaged installation must not lose it silently.
OWN = tuple(
    Entry(name, value, OWN_PACKAGE, __version__)
    for name, value in (
        ("host.taught", "claude_mem_core.taught"),
        ("observer.builtin", "claude_mem_core.observer"),
        ("redactor.secrets", "claude_mem_core.redactor"),
        ("search.keyword", "claude_mem_core.recall.keyword"),
    )
)
