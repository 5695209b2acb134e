"""Watchers: parts of the worker that see events which no hook reports.

What they hand in goes the way of every event: the door, the cleaner, the journal. Each
runs on its own; one that breaks is logged and ends.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio

from claude_mem_core.pipeline.bus import Bus
from claude_mem_core.pipeline.deliver import WAKING
from claude_mem_core.pipeline.index import Indexer
from claude_mem_core.pipeline.observe import ObserveLoop
from claude_mem_core.pipeline.record import Recorder
from claude_mem_core.pipeline.told import Told
from claude_mem_core.plugins.calls import call_async, call_sync, describe
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.recall.listing import title_of
from claude_mem_core.recall.suspicion import instruction_like
from claude_mem_core.settings import SettingsSource
from claude_mem_core.settings.pausing import is_paused
from claude_mem_core.store import Store, fetch, rows, told
from claude_mem_core.types import (
    Event,
    EventKind,
    Host,
    Observation,
    Trust,
    Watcher,
    Watching,
)

log = logging.getLogger(__name__)

PIECE = 200  # events in one transaction
NEWEST = f"""
  SELECT {rows.OBSERVATION} FROM observations WHERE superseded_by IS NULL
    AND id NOT IN (SELECT memory_id FROM feedback WHERE outdated)
    AND (?1 = '' OR platform_source = ?1)
    AND (?2 = '[]' OR project IN (SELECT value FROM json_each(?2)))
  ORDER BY created_at_epoch DESC, id DESC LIMIT ?3
"""


class Watchers:
    """Runs what plugins offer to watch."""

    def __init__(
        self, *, data: Path, settings: SettingsSource, registry: Registry, store: Store,
        bus: Bus, recorder: Recorder, told: Told, loop: ObserveLoop, indexer: Indexer,
    ) -> None:  # fmt: skip
        self.data = data
        self.settings = settings
        self.registry = registry
        self.store = store
        self.recorder = recorder
        self.told = told
        self.loop = loop
        self.indexer = indexer
        self.awake: set[str] = set()  # watchers for which the worker stays
        self.kept = 0  # observations since the start
        self.changed = anyio.Event()
        self._bus = bus

    async def run(self) -> None:
        """Run all watchers until cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._listen)
            for record in self.registry.records("mem_watchers", Watcher):
                outcome = call_sync(record.name, record.open, self.settings.current())
                if outcome.error is not None:
                    log.warning("watcher %s: %s", record.name, describe(outcome.error))
                elif outcome.value is not None:
                    tasks.start_soon(self._watch, record.name, outcome.value)

    async def _watch(self, name: str, watching: Watching) -> None:
        outcome = await call_async(name, watching.run, WorkersDesk(self, name))
        self.awake.discard(name)
        if outcome.error is not None:
            log.error("watcher %s has ended: %s", name, describe(outcome.error))

    async def _listen(self) -> None:
        with self._bus.subscribe() as notices:
            async for notice in notices:
                if notice.type == "new_observation":
                    self.kept += 1
                    self.changed.set()
                    self.changed = anyio.Event()


class WorkersDesk:
    """What one watcher is given: the way in, and a few questions."""

    def __init__(self, watchers: Watchers, name: str) -> None:
        self._all = watchers
        self._name = name
        self._known: set[tuple[str, str]] = set()
        self._told = watchers.kept

    @property
    def data(self) -> Path:
        """The data directory."""
        return self._all.data

    def settings(self) -> Mapping[str, Any]:
        """The settings as they are now."""
        return self._all.settings.current()

    def hosts(self) -> Sequence[Host]:
        """The hosts that plugins offer."""
        return list(self._all.registry.records("mem_hosts", Host))

    def keep_awake(self, wanted: bool) -> None:
        """Whether the worker must stay when nothing else is to be done."""
        (self._all.awake.add if wanted else self._all.awake.discard)(self._name)

    async def report(self, events: Sequence[Event]) -> int:
        """Record events, in their order; how many were new."""
        new = 0
        for start in range(0, len(events), PIECE):
            piece = events[start : start + PIECE]
            receipts = await self._all.recorder.accept_all(piece)
            new += sum(not receipt.duplicate for receipt in receipts)
            for event, receipt in zip(piece, receipts, strict=True):
                self._all.told.of(event, receipt)
        if any(event.kind in WAKING for event in events):
            self._all.loop.wake()
        if any(event.kind is EventKind.PROMPT_SENT for event in events):
            self._all.indexer.wake()
        return new

    async def hooked(self, host: str, session_id: str) -> bool:
        """Whether hooks report of this session; once they did, they do."""
        key = (host, session_id)
        if key not in self._known and await self._all.store.aread(lambda c: told.hooked(c, *key)):
            self._known.add(key)
        return key in self._known

    async def newest(
        self, limit: int, *, projects: Sequence[str] = (), host: str = ""
    ) -> Sequence[Observation]:
        """The newest observations that hold."""
        values = (host, json.dumps(list(projects)), limit)
        found = await self._all.store.aread(lambda conn: fetch.rows(conn, NEWEST, *values))
        return [rows.observation(row) for row in found]

    def line(self, observation: Observation) -> str:
        """One line for an agent; what comes from outside and reads like an order is not shown."""
        said = (observation.title, observation.subtitle, observation.narrative)
        if observation.trust is Trust.FOREIGN and instruction_like(*said):
            return ""
        return title_of(observation)

    def paused(self) -> bool:
        """Whether a pause is on."""
        return is_paused(self.settings())

    async def changed(self, timeout: float) -> bool:
        """Wait for an observation; one that came since the last call counts."""
        with anyio.move_on_after(timeout):
            while self._all.kept == self._told:
                await self._all.changed.wait()
        news, self._told = self._all.kept != self._told, self._all.kept
        return news
