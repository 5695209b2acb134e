"""The installed plugins under the user's settings, and the settings they add."""

from __future__ import annotations

from functools import partial

from claude_mem_core.paths import Paths
from claude_mem_core.plugins.registry import Registry, open_registry
from claude_mem_core.settings import CORE, Settings, SettingsSource
from claude_mem_core.types import Setting

CHOICES = ("CLAUDE_MEM_PROVIDER", "CLAUDE_MEM_QUOTA_FALLBACK_PROVIDER")
NOBODY = frozenset({"", "builtin", "off"})


def registry_of(
    paths: Paths, *, machine_env: bool = False, providers: bool = False
) -> tuple[SettingsSource, Registry]:
    """Settings first (they may block plugins), then the plugins, then their settings.

    `machine_env`: the environment may hold settings of scope `machine`; only for a
    worker that a person runs in the foreground. `providers`: load them for their
    settings even where none is chosen, for somebody who is about to choose.
    """
    first = SettingsSource(paths, machine_env=machine_env).current()
    registry = open_registry(
        paths,
        blocked=first["CLAUDE_MEM_PLUGINS_BLOCKED"],
        # A file that can't be read must not switch strict mode off.
        strict=None if first.broken else first["CLAUDE_MEM_PLUGINS_STRICT"],
    )
    if providers:
        registry.load("provider")
    late = partial(_of_providers, registry)
    source = SettingsSource(paths, declared(registry), machine_env=machine_env, late=late)
    return source, registry


def _of_providers(registry: Registry, settings: Settings) -> list[Setting]:
    """Providers load when one is chosen; until then nobody needs their settings."""
    if {settings[key] for key in CHOICES} <= NOBODY:
        return []
    registry.load("provider")
    return declared(registry)


def declared(registry: Registry) -> list[Setting]:
    """The core's settings and those of the installed plugins; the core's come first."""
    ours = {setting.key for setting in CORE}
    theirs = (s for s in registry.records("mem_settings", Setting) if s.key not in ours)
    return [*CORE, *theirs]
