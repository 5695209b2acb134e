"""Files by which a project speaks of itself. They may narrow or suggest, never steer."""

from __future__ import annotations

import os
from collections.abc import Container
from typing import Any

import attrs

from claude_mem_core.convert import json_loads_bounded
from claude_mem_core.errors import InvalidInput
from claude_mem_core.files import open_regular
from claude_mem_core.projects.spelling import ancestors, label_of

NAMES = (".claude-mem.json", ".claude-mem-project")
MARKER_BYTES = 4_096


@attrs.frozen
class Narrowed:
    """What a project's own `.claude-mem.json` asks for.

    Attributes:
        enabled: false when it switches memory off here.
        alias: the name it suggests; the user decides.
    """

    enabled: bool = True
    alias: str | None = None


def narrowed(project_root: str) -> Narrowed:
    """Read `.claude-mem.json` in a directory; anything odd in it counts for nothing.

    A link is not followed and at most 4 KB are read: the file is the repository's.
    """
    value = _object(os.path.join(project_root, NAMES[0])) if project_root else {}
    name = value.get("name", value.get("project"))
    alias = label_of(name) if isinstance(name, str) and name.strip() else None
    return Narrowed(value.get("enabled") is not False, alias)


def _object(path: str) -> dict[str, Any]:
    if not os.path.lexists(path):  # the usual case, asked for every event
        return {}
    try:
        with open_regular(path, MARKER_BYTES) as file:
            value = json_loads_bounded(file.read(MARKER_BYTES), MARKER_BYTES)
    except (InvalidInput, OSError):
        return {}
    return value if isinstance(value, dict) else {}


def marked_root(path: str, stop: Container[str]) -> str | None:
    """The nearest directory that holds a marker file, at `path` or above, if any."""
    for place in ancestors(path):
        if place in stop:
            return None
        if any(os.path.lexists(os.path.join(place, name)) for name in NAMES):
            return place
    return None
