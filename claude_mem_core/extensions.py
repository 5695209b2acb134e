"""The installed plugins under the user's settings, and the settings they add."""

from __future__ import annotations

from claude_mem_core.paths import Paths
from claude_mem_core.plugins.registry import Registry, open_registry
from claude_mem_core.settings import CORE, SettingsSource
from claude_mem_core.types import Setting


def registry_of(
    paths: Paths, *, machine_env: bool = False
) -> tuple[SettingsSource, Registry]:
    """Settings first (they may block plugins), then the plugins, then their settings.

    `machine_env`: the environment may hold settings of scope `machine`; only for a
    worker that a person runs in the foreground.
    """
    first = SettingsSource(paths, machine_env=machine_env).current()
    registry = open_registry(
        paths,
        blocked=first["CLAUDE_MEM_PLUGINS_BLOCKED"],
        # A file that can't be read must not switch strict mode off.
        strict=None if first.broken else first["CLAUDE_MEM_PLUGINS_STRICT"],
    )
    return SettingsSource(paths, declared(registry), machine_env=machine_env), registry


def declared(registry: Registry) -> list[Setting]:
    """The core's settings and those of the installed plugins; the core's come first."""
    ours = {setting.key for setting in CORE}
    theirs = (s for s in registry.records("mem_settings", Setting) if s.key not in ours)
    return [*CORE, *theirs]
