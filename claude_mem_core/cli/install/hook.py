"""The hook client that the hosts' hooks start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from claude_mem_core import edge
from claude_mem_core.extensions import registry_of
from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths
from claude_mem_core.types import Host


def expected(paths: Paths) -> list[str]:
    """How a hook will be started, before anything is written."""
    return edge.hook_argv(paths)


def bridge(paths: Paths) -> list[str]:
    """How our MCP server will be started, before anything is written."""
    return edge.bridge_argv(paths)


def install(paths: Paths, hosts: Iterable[Host]) -> list[str]:
    """Copy the client into the data directory; how a hook is started.

    The variables that say where the hosts keep their transcripts are recorded with it,
    for the worker starts with nothing else of this environment.

    Raises:
        StoreError: the data directory is not ours alone, or can't be written.
    """
    secure_dir(paths.data)
    names = {root[1:].partition("/")[0] for root in _roots(hosts) if root.startswith("$")}
    argv = edge.install_hook(paths, keep=sorted(names))
    settings, registry = registry_of(paths)
    edge.prepare(paths, registry, settings.current())
    return argv


def _roots(hosts: Iterable[Host]) -> Iterator[str]:
    return (root for host in hosts for root in host.transcript_roots)
