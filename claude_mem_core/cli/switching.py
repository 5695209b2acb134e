"""Switching the memory on and off for a folder, in the user's own settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from claude_mem_core import edge
from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.cli.pausing import own_id
from claude_mem_core.errors import UsageError
from claude_mem_core.extensions import registry_of
from claude_mem_core.paths import Paths, data_dir
from claude_mem_core.projects import excluded, narrowed, place_of
from claude_mem_core.settings import writing

EXCLUDED, INCLUDED, OPT_IN = (
    "CLAUDE_MEM_EXCLUDED_PROJECTS", "CLAUDE_MEM_INCLUDED_PROJECTS", "CLAUDE_MEM_OPT_IN",
)  # fmt: skip


def switch(folder: str, *, on: bool, as_json: bool) -> int:
    """Put `folder` on the one list and take it off the other; say what holds there now.

    Returns 0, or 1 when something else decides otherwise there.

    Raises:
        UsageError: there is no such folder.
        SettingsError, StoreError: it can't be written.
    """
    path = _folder(folder)
    paths = Paths(data_dir())
    source, registry = registry_of(paths)
    _write(paths, source.current(), path, on=on)
    settings = source.current()
    if paths.edge.exists():
        edge.publish(paths, edge.policy_of(registry, settings, own_id(paths)))
    is_on = not excluded(place_of(path, settings, os.path.expanduser("~")), path, settings)
    if as_json:
        emit_json({"folder": path, "on": is_on})
    else:
        emit(f"The memory is {'on' if is_on else 'off'} in {path} and all below it.")
        if is_on is not on:
            emit(_why(path, settings))
    return 0 if is_on is on else 1


def _folder(folder: str) -> str:
    path = os.path.realpath(folder or os.getcwd())
    if not os.path.isdir(path):
        raise UsageError(f"there is no folder {path}")
    if "," in path:
        raise UsageError(f"{path} has a comma in its name; exclude it with a glob: ? for it")
    return path


def _write(paths: Paths, settings: Mapping[str, Any], path: str, *, on: bool) -> None:
    lists = {EXCLUDED: list(settings[EXCLUDED]), INCLUDED: list(settings[INCLUDED])}
    wanted = INCLUDED if on else EXCLUDED
    for key, values in lists.items():
        lists[key] = [value for value in values if value.rstrip("/") != path]
    if not on or settings[OPT_IN]:
        lists[wanted].append(path)
    changed = {
        key: ",".join(values) for key, values in lists.items() if values != list(settings[key])
    }
    if changed:
        writing.put(paths, changed)


def _why(path: str, settings: Mapping[str, Any]) -> str:
    root = place_of(path, settings, os.path.expanduser("~")).root
    if not narrowed(root).enabled:
        return f"The project itself asks for it: see {Path(root) / '.claude-mem.json'}."
    return f"{EXCLUDED} has a pattern for it: `mem config get {EXCLUDED}` shows it."
