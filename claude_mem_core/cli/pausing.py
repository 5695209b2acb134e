"""Beginning and ending a pause, for the worker and for hooks that find none."""

from __future__ import annotations

import json

from claude_mem_core import edge
from claude_mem_core.cli.emit import emit_json
from claude_mem_core.errors import MemError
from claude_mem_core.extensions import registry_of
from claude_mem_core.files import read_private
from claude_mem_core.paths import Paths, data_dir
from claude_mem_core.settings import writing
from claude_mem_core.settings.pausing import KEY, is_paused, paused_text

LARGEST = 1 << 20


def put(until_ms: int, *, as_json: bool) -> str:
    """Write it down and tell the hooks; how people are told of it.

    Raises:
        SettingsError, StoreError: it can't be written: the pause has not begun.
        MemError: a setting above the file holds another value.
    """
    paths = Paths(data_dir())
    writing.put(paths, {KEY: str(until_ms)})
    source, registry = registry_of(paths)
    settings = source.current()
    if is_paused(settings) is not (until_ms != 0):
        raise MemError(
            f"{KEY} is set to {settings[KEY]} elsewhere: `mem config explain {KEY}` says where"
        )
    if paths.edge.exists():
        edge.publish(paths, edge.policy_of(registry, settings, own_id(paths)))
    if as_json:
        emit_json({"paused": is_paused(settings), "until_ms": until_ms})
    return paused_text(settings)


def own_id(paths: Paths) -> str:
    """The id that the worker has published; what it says stays as it is."""
    try:
        return str(json.loads(read_private(paths.edge, LARGEST)).get("own_id", ""))
    except (OSError, ValueError, AttributeError):
        return ""
