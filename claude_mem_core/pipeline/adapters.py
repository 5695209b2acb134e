"""Hosts by name, opened once."""

from __future__ import annotations

import attrs

from claude_mem_core.errors import MemError
from claude_mem_core.plugins.plugin import State
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.types import Host, HostAdapter


class UnknownHost(MemError):
    """No plugin speaks for this host; its deliveries wait until one does."""


@attrs.frozen
class OpenHost:
    """A host's record and its adapter."""

    record: Host
    adapter: HostAdapter


class Adapters:
    """The hosts that plugins offer, each opened at its first delivery."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._open: dict[str, OpenHost] = {}

    def get(self, name: str) -> OpenHost:
        """The host of that name.

        Raises:
            UnknownHost: no plugin offers it, or the one that does is blocked.
        """
        if name not in self._open:
            self._open[name] = self._opened(name)
        return self._open[name]

    def _opened(self, name: str) -> OpenHost:
        for record in self._registry.records("mem_hosts", Host):
            if record.name == name:
                return OpenHost(record, record.open())
        plugin = self._registry.plugins.get(f"host.{name}")
        if plugin is not None and plugin.state is State.BLOCKED:
            raise UnknownHost(
                f"the plugin {plugin.name} is blocked: `mem plugins unblock {plugin.name}`,"
                " then `mem restart`"
            )
        raise UnknownHost(
            f"no plugin speaks for the host {name!r}; install it with"
            f" `pip install claude-mem-host-{name}`, see `mem plugins`"
        )
