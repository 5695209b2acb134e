"""`notice.json`: what hooks say at a session's start while the worker can't start.

The hook knows no host, so each host's words are left here ready for use.
"""

from __future__ import annotations

import json

from claude_mem_core.errors import MemError
from claude_mem_core.paths import Paths
from claude_mem_core.worker.identity import remove


def leave(paths: Paths, text: str) -> None:
    """Leave it, if anything can be written at all."""
    from claude_mem_core.files import write_private

    try:
        data = json.dumps({"text": text, "replies": replies(paths, text)}).encode("ascii")
        write_private(paths.notice, data)
    except (OSError, MemError):
        return


def take_back(paths: Paths) -> None:
    """All is well again."""
    remove(paths.notice)


def replies(paths: Paths, text: str) -> dict[str, dict[str, str]]:
    """By host and by its name of the event: what the hook prints.

    Raises:
        MemError: settings or plugins can't be read.
    """
    from claude_mem_core.extensions import registry_of
    from claude_mem_core.pipeline.adapters import Adapters
    from claude_mem_core.pipeline.excuse import starting_events, worded
    from claude_mem_core.types import Host

    _, registry = registry_of(paths)
    adapters = Adapters(registry)
    found: dict[str, dict[str, str]] = {}
    for record in registry.records("mem_hosts", Host):
        host = adapters.get(record.name)
        said = {name: worded(host, name, text).stdout for name in starting_events(host)}
        found[record.name] = {name: words for name, words in said.items() if words}
    return found
