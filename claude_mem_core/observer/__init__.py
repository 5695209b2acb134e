"""The built-in observer, a plugin of the core's own: `observer.builtin`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from claude_mem_core.hookspecs import hookimpl
from claude_mem_core.types import ObserverRecord

if TYPE_CHECKING:
    from claude_mem_core.types import Observer, Values


@hookimpl
def mem_observers() -> Iterable[ObserverRecord]:
    """The observer that works without a model."""
    yield ObserverRecord(
        name="builtin", summary="rules, no model: deterministic and offline", open=_open
    )


def _open(settings: Values) -> Observer:
    from claude_mem_core.observer.builtin import BuiltinObserver

    return BuiltinObserver()
