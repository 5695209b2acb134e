"""Feeds the search backends from the change log; they may lag, they never miss."""

from __future__ import annotations

import logging

import anyio
import anyio.to_thread

from claude_mem_core.plugins.calls import call_async, call_sync, describe
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.settings import SettingsSource
from claude_mem_core.store import Store
from claude_mem_core.types import (
    Closes,
    Embedder,
    SearchBackend,
    SearchIndex,
    UsesEmbedders,
    WorksWhenIdle,
)

log = logging.getLogger(__name__)

CHUNK = 500
SWEEP_S = 10.0
BREATH_S = 0.05  # between two pieces of work that can wait


class Indexer:
    """The opened search backends, and the task that keeps them up to date."""

    def __init__(self, store: Store, registry: Registry, settings: SettingsSource) -> None:
        self._store = store
        self._registry = registry
        self._settings = settings
        self._wake = anyio.Event()
        self._feeding = anyio.Lock()
        self.backends: dict[str, SearchIndex] = {}
        self.exact: frozenset[str] = frozenset()
        self.faults: dict[str, str] = {}

    def open(self) -> None:
        """Open every backend that plugins offer; one that fails is left out."""
        settings = self._settings.current()
        records = sorted(
            self._registry.records("mem_search_backends", SearchBackend),
            key=lambda record: record.order,
        )
        self.exact = frozenset(record.name for record in records if record.exact)
        for record in records:
            if not record.exact and not settings["CLAUDE_MEM_CHROMA_ENABLED"]:
                continue
            outcome = call_sync(record.name, self._opened, record)
            if outcome.error is None:
                self.backends[record.name] = outcome.value
            else:
                self._fault(record.name, outcome.error)

    def _opened(self, record: SearchBackend) -> SearchIndex:
        backend = record.open(self._store, self._settings.current())
        if isinstance(backend, UsesEmbedders):
            backend.use(list(self._registry.records("mem_embedders", Embedder)))
        return backend

    def close(self) -> None:
        """Close the backends that hold something open, a process beside for instance."""
        for name, backend in self.backends.items():
            if isinstance(backend, Closes):
                outcome = call_sync(name, backend.close)
                if outcome.error is not None:
                    log.warning("search backend %s: %s", name, describe(outcome.error))

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
                await self._idle()
                await self._wake.wait()
            self._wake = anyio.Event()

    async def catch_up(self) -> None:
        """Feed every backend, in turns, until all have followed all changes."""
        async with self._feeding:
            behind = dict(self.backends)
            while behind:
                for name, backend in tuple(behind.items()):
                    if not await self._fed(name, backend):
                        del behind[name]

    async def _fed(self, name: str, backend: SearchIndex) -> bool:
        """Whether there may be more to take."""
        outcome = await anyio.to_thread.run_sync(call_sync, name, backend.feed, CHUNK)
        if outcome.error is not None:
            self._fault(name, outcome.error)
            return False
        if not outcome.value:
            self.faults.pop(name, None)
        return bool(outcome.value)

    async def _idle(self) -> None:
        """Have the backends do what can wait, until something comes or nothing is left."""
        waiting = [
            (name, backend)
            for name, backend in self.backends.items()
            if isinstance(backend, WorksWhenIdle)
        ]
        while waiting and not self._wake.is_set():
            for pair in tuple(waiting):
                if not await self._worked(*pair):
                    waiting.remove(pair)
            await anyio.sleep(BREATH_S)

    async def _worked(self, name: str, backend: WorksWhenIdle) -> bool:
        outcome = await anyio.to_thread.run_sync(call_sync, name, backend.idle)
        if outcome.error is not None:
            self._fault(name, outcome.error)
            return False
        return bool(outcome.value)

    def _fault(self, name: str, error: BaseException) -> None:
        text = describe(error)
        if self.faults.get(name) != text:
            log.error("search backend %s: %s", name, text)
        self.faults[name] = text
