"""What every plugin has to keep, whatever it offers.

from claude_mem_core.testing import PluginContract

class TestMine(PluginContract):
    plugin = "plugin.mine"
"""

from __future__ import annotations

import inspect
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

import pytest

from claude_mem_core.plugins.entry import OWN, Entry
from claude_mem_core.plugins.index import scan
from claude_mem_core.plugins.loading import HOOKS
from claude_mem_core.plugins.registry import Registry, State
from claude_mem_core.types import Record, Setting

# What a hook may take: it answers from memory, work belongs behind `open`.
AT_ONCE = 0.5


def entries_named(name: str) -> list[Entry]:
    """The installed entry points of this name."""
    return [entry for entry in (*OWN, *scan()) if entry.name == name]


class PluginCase:
    """What suites of a plugin work with; it has no tests of its own.

    Attributes:
        plugin: name of the entry point, as in `pyproject.toml`.
        settings: values that differ from the declared defaults, by key.
    """

    plugin: str = ""
    settings: Mapping[str, Any] = {}

    @pytest.fixture(scope="class")
    @classmethod
    def registry(cls) -> Registry:
        """A registry that holds this plugin only, loaded."""
        found = Registry(entries_named(cls.plugin))
        found.load(None)
        return found

    @pytest.fixture
    def values(self, registry: Registry) -> Mapping[str, Any]:
        """The settings as `open` gets them: defaults, then the class's own."""
        from claude_mem_core.settings import CORE

        declared = [*CORE, *registry.records("mem_settings", Setting)]
        return {**{setting.key: setting.default for setting in declared}, **self.settings}


class PluginContract(PluginCase):
    """Inherit, name the entry point, and pytest runs the suite."""

    def test_is_installed_once(self) -> None:
        found = entries_named(self.plugin)
        assert len(found) == 1, f"entry points named {self.plugin!r}: {found}"

    def test_loads_without_a_fault(self, registry: Registry) -> None:
        plugin = registry.plugins[self.plugin]
        assert (plugin.state, plugin.error) == (State.LOADED, "")

    def test_hooks_answer_at_once(self, registry: Registry) -> None:
        for hook in self._plain_hooks(registry):
            start = time.perf_counter()
            outcomes = list(registry.call(hook))
            assert time.perf_counter() - start < AT_ONCE, f"{hook} is slow"
            assert [outcome.error for outcome in outcomes] == [None]

    def test_records_say_what_they_are(self, registry: Registry) -> None:
        for hook in self._plain_hooks(registry):
            for outcome in registry.call(hook):
                records = [r for r in outcome.value or () if isinstance(r, Record)]
                assert all(record.summary for record in records), f"{hook}: no summary"

    def test_settings_are_declared_well(self, registry: Registry) -> None:
        for setting in registry.records("mem_settings", Setting):
            assert setting.key.startswith("CLAUDE_MEM_"), setting.key
            assert setting.help, f"{setting.key} has no help"

    def test_importing_it_imports_no_other_plugin(self, registry: Registry) -> None:
        module = registry.plugins[self.plugin].entry.value.partition(":")[0]
        code = f"import sys, {module}; print(*sys.modules)"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
        )
        own = {module.partition(".")[0], "claude_mem_core"}
        tops = {name.partition(".")[0] for name in done.stdout.split()}
        assert {top for top in tops if top.startswith("claude_mem_")} <= own

    def _plain_hooks(self, registry: Registry) -> list[str]:
        """Hooks of the plugin that take no argument and offer something."""
        from claude_mem_core import hookspecs

        hooks = registry.plugins[self.plugin].hooks & HOOKS
        told = {"mem_started", "mem_stopped"}
        return [
            hook
            for hook in sorted(hooks - told)
            if not inspect.signature(getattr(hookspecs, hook)).parameters
        ]
