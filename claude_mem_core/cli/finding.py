"""What `mem doctor` finds: a row each; and what its checks look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import attrs

from claude_mem_core.paths import Paths
from claude_mem_core.plugins.registry import Registry

OK, WARN, FAIL = "ok", "warn", "fail"


@attrs.frozen
class Row:
    """One finding. `cure` says what to do; empty when nothing has to be done."""

    topic: str
    state: str
    text: str
    cure: str = ""


@attrs.define(slots=False)
class Look:
    """What several checks need, looked up once."""

    paths: Paths
    cwd: str = ""

    @cached_property
    def state(self) -> dict[str, Any]:
        """What the worker says, or what can be seen without it."""
        from claude_mem_core.cli.commands.status import state

        return state(self.paths)

    @cached_property
    def registry(self) -> Registry:
        """The installed plugins, all loaded."""
        from claude_mem_core.cli.install.hosts import registry_for

        registry = registry_for(self.paths)
        registry.load(None)
        return registry


Check = Callable[[Look], Iterator[Row]]
