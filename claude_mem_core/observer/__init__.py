"""The built-in observer, a plugin of the core's own: `observer.builtin`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from claude_mem_core.hookspecs import hookimpl
from claude_mem_core.types import ObserverRecord

if TYPE_CHECKING:
    from claude_mem_core.types import Batch, Observed, Values


@hookimpl
def mem_observers() -> Iterable[ObserverRecord]:
    """The observer that works without a model."""
    yield ObserverRecord(
        name="builtin", summary="rules, no model: deterministic and offline", open=_open
    )


def _open(settings: Values) -> BuiltinObserver:
    return BuiltinObserver()


class BuiltinObserver:
    """An `Observer` that needs nothing: no model, no network, no key."""

    async def observe(self, batch: Batch) -> Observed:
        """Observe off the event loop: a long turn must not hold up a hook."""
        return await asyncio.to_thread(_observe, batch)

    async def aclose(self) -> None:
        """Nothing to close."""


def _observe(batch: Batch) -> Observed:
    # Imported where the event loop does not wait: the word tables take a while to compile.
    from claude_mem_core.observer.builtin import observe

    return observe(batch)
