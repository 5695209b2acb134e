"""Feeds the search backends from the change log; they may lag, they never miss."""

from __future__ import annotations

import logging

import anyio
import anyio.to_thread

from claude_mem_core.plugins.calls import call_async, call_sync, describe
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.settings import SettingsSource
from claude_mem_core.store import Store
from claude_mem_core.types import SearchBackend, SearchIndex

log = logging.getLogger(__name__)

CHUNK = 500
SWEEP_S = 10.0


class Indexer:
    """The opened search backends, and the task that keeps them up to date."""

    def __init__(self, store: Store, registry: Registry, settings: SettingsSource) -> None:
        self._store = store
        self._registry = registry
        self._settings = settings
        self._wake = anyio.Event()
        self._feeding = anyio.Lock()
        self.backends: dict[str, SearchIndex] = {}
        self.faults: dict[str, str] = {}

    def open(self) -> None:
        """Open every backend that plugins offer; one that fails is left out."""
        records = sorted(
            self._registry.records("mem_search_backends", SearchBackend),
            key=lambda record: record.order,
        )
        for record in records:
            outcome = call_sync(record.name, record.open, self._store, self._settings.current())
            if outcome.error is None:
                self.backends[record.name] = outcome.value
            else:
                self._fault(record.name, outcome.error)

    def wake(self) -> None:
        """There is something new to index."""
        self._wake.set()

    async def run(self) -> None:
        """Feed until cancelled."""
        while True:
            outcome = await call_async("indexing", self.catch_up)
            if outcome.error is not None:
                log.error("indexing paused: %s", describe(outcome.error))
            with anyio.move_on_after(SWEEP_S):
                await self._wake.wait()
            self._wake = anyio.Event()

    async def catch_up(self) -> None:
        """Feed every backend until it has followed all changes."""
        async with self._feeding:
            for name, backend in tuple(self.backends.items()):
                await self._feed(name, backend)

    async def _feed(self, name: str, backend: SearchIndex) -> None:
        taken = 1
        while taken:
            outcome = await anyio.to_thread.run_sync(call_sync, name, backend.feed, CHUNK)
            if outcome.error is not None:
                self._fault(name, outcome.error)
                return
            taken = outcome.value
        self.faults.pop(name, None)

    def _fault(self, name: str, error: BaseException) -> None:
        text = describe(error)
        if self.faults.get(name) != text:
            log.error("search backend %s: %s", name, text)
        self.faults[name] = text
