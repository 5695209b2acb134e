"""Keeping what an observer made: cleaned, in one transaction, and told to who listens."""

from __future__ import annotations

import logging
from collections.abc import Callable

import apsw
import attrs

from claude_mem_core.pipeline import alike
from claude_mem_core.pipeline.bus import Bus
from claude_mem_core.pipeline.clean_reply import cleaned
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.pipeline.record import Cleaners
from claude_mem_core.pipeline.turns import Turn
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.settings import SettingsSource
from claude_mem_core.store import Store, memories
from claude_mem_core.types import Observed

log = logging.getLogger(__name__)


class Keeper:
    """Stores memories and says so."""

    def __init__(
        self,
        *,
        store: Store,
        registry: Registry,
        settings: SettingsSource,
        bus: Bus,
        cleaners: Cleaners,
        kept: Callable[[memories.Kept], object],
    ) -> None:
        self._store = store
        self._registry = registry
        self._settings = settings
        self._bus = bus
        self._cleaners = cleaners
        self._kept = kept

    async def keep(self, turn: Turn, observed: Observed) -> None:
        """Keep what was made of a turn, which is done with it."""
        work, clean = turn.work, self._cleaned(turn, observed)
        settings, now = self._settings.current(), now_ms()

        def write(conn: apsw.Connection) -> memories.Kept:
            made = memories.keep(conn, work, work.session_db_id, clean, now)
            return alike.settled(conn, made, settings, now)

        kept = await self._store.awrite(write)
        self._announce(kept)

    async def keep_meanwhile(self, turn: Turn, observed: Observed, reason: str | None) -> None:
        """Keep what rules made of a turn that waits for a model; nobody is told yet."""
        work, clean = turn.work, self._cleaned(turn, observed)
        kept = await self._store.awrite(
            lambda conn: memories.keep_meanwhile(
                conn, work, work.session_db_id, clean, reason, now_ms()
            )
        )
        self._kept(kept)

    def _cleaned(self, turn: Turn, observed: Observed) -> Observed:
        cleaner = self._cleaners.current(self._settings.current())
        if any(e.event.extra.get("no_summary") for e in turn.batch.events):
            observed = attrs.evolve(observed, summary=None)
        return cleaned(observed, cleaner, turn.batch)

    def _announce(self, kept: memories.Kept) -> None:
        for observation in kept.observations:
            self._bus.publish(
                "new_observation",
                id=observation.id,
                project=observation.project,
                title=observation.title,
                observation_type=observation.type,
            )
            for outcome in self._registry.call(
                "mem_observation_stored", observation=observation
            ):
                if outcome.error is not None:
                    log.warning("plugin %s: %s", outcome.plugin, outcome.error)
        if kept.summary is not None:
            self._bus.publish("new_summary", id=kept.summary.id, project=kept.summary.project)
        self._kept(kept)
