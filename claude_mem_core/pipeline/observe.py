"""The observing loop: claims turns, asks the observer, keeps what it made.

In order within a session, several sessions at once. Event-driven: `wake` after a turn
ended; a slow sweep catches what no event announces (idle turns, expired leases).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence

import anyio
import apsw
import attrs

from claude_mem_core.pipeline.bus import Bus
from claude_mem_core.pipeline.clean_reply import cleaned
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.pipeline.record import Cleaners
from claude_mem_core.plugins.calls import Outcome, call_async, describe
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.settings import SettingsSource
from claude_mem_core.store import Store, journal, memories, queue
from claude_mem_core.types import Batch, Observed, Observer, ObserverRecord

log = logging.getLogger(__name__)

LEASE_MS = 300_000
IDLE_MS = 120_000
SWEEP_S = 5.0
PAUSE_S = 2.0
SESSIONS = 4
CLAIM = 32
BUILTIN = "builtin"


@attrs.frozen
class Turn:
    """What the loop loaded for one piece of work."""

    work: queue.Work
    batch: Batch


class ObserveLoop:
    """Turns pending work into memories until it is cancelled."""

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
        self._wake = anyio.Event()
        self._force = False
        self._observers: dict[str, Observer] = {}
        self._round = anyio.Lock()
        self._rested = anyio.Event()
        self._asked = self._served = 0
        self.busy = 0

    def wake(self, *, force: bool = False) -> None:
        """Look for work now; with `force` also at turns that are not over."""
        self._force = self._force or force
        self._wake.set()

    async def run(self) -> None:
        """Work until cancelled; a fault of the store is logged and outlived."""
        await self._outlived(self._resume)
        while True:
            with anyio.move_on_after(SWEEP_S):
                await self._wake.wait()
            self._wake = anyio.Event()
            asked = self._asked
            force, self._force = self._force, False
            await self._outlived(self.drain, force)
            self._served = asked
            self._rested.set()
            self._rested = anyio.Event()

    async def drain(self, force: bool = False) -> int:
        """Do all work that is ready; return how many turns were done."""
        done = 0
        async with self._round:
            while works := await self._claim(force):
                await self._work_off(works)
                done += len(works)
        return done

    async def settle(self, seconds: float) -> None:
        """Wait, for at most `seconds`, until what is ready now has been done.

        The work itself is never cut off: a cancelled claim would wait for its lease.
        """
        self._asked += 1
        mine = self._asked
        self.wake()
        with anyio.move_on_after(seconds):
            while self._served < mine:
                await self._rested.wait()

    async def _resume(self) -> int:
        return await self._store.awrite(lambda conn: queue.resume(conn, now_ms()))

    async def _outlived(self, work: Callable[..., Awaitable[int]], *args: bool) -> None:
        outcome = await call_async("observing", work, *args)
        if outcome.error is not None:
            log.error("observing paused: %s", describe(outcome.error))
            await anyio.sleep(PAUSE_S)

    async def aclose(self) -> None:
        """Close the observers that were opened."""
        for observer in self._observers.values():
            await observer.aclose()

    async def _claim(self, force: bool) -> list[queue.Work]:
        now = now_ms()

        def claim(conn: apsw.Connection) -> list[queue.Work]:
            queue.release_stale(conn, now)
            return queue.claim(conn, now, LEASE_MS, CLAIM, IDLE_MS, force=force)

        if not await self._store.aread(queue.any_pending):
            return []
        return await self._store.awrite(claim)

    async def _work_off(self, works: Sequence[queue.Work]) -> None:
        limit = anyio.CapacityLimiter(SESSIONS)
        async with anyio.create_task_group() as tasks:
            for group in _by_session(works):
                tasks.start_soon(self._session, group, limit)

    async def _session(self, works: Iterable[queue.Work], limit: anyio.CapacityLimiter) -> None:
        async with limit:
            self.busy += 1
            try:
                for work in works:
                    await self._one(work)
            finally:
                self.busy -= 1

    async def _one(self, work: queue.Work) -> None:
        turn = await self._load(work)
        outcome = await self._observe(turn.batch)
        if outcome.error is not None:
            await self._failed(work, outcome)
            return
        observed = self._cleaned(turn, outcome.value)
        kept = await self._keep(work, observed)
        self._announce(kept)

    async def _load(self, work: queue.Work) -> Turn:
        return await self._store.aread(lambda conn: _load(conn, work))

    async def _observe(self, batch: Batch) -> Outcome:
        name = str(self._settings.current()["CLAUDE_MEM_PROVIDER"] or BUILTIN)
        observer = self._observer(name)
        return await call_async(name, observer.observe, batch)

    def _observer(self, name: str) -> Observer:
        """The chosen observer; the built-in one when it is not to be had."""
        if name not in self._observers:
            known = {r.name: r for r in self._registry.records("mem_observers", ObserverRecord)}
            record = known.get(name) or known[BUILTIN]
            self._observers[name] = record.open(self._settings.current())
        return self._observers[name]

    def _cleaned(self, turn: Turn, observed: Observed) -> Observed:
        cleaner = self._cleaners.current(self._settings.current())
        if any(e.event.extra.get("no_summary") for e in turn.batch.events):
            observed = attrs.evolve(observed, summary=None)
        return cleaned(observed, cleaner, turn.batch)

    async def _keep(self, work: queue.Work, observed: Observed) -> memories.Kept:
        return await self._store.awrite(
            lambda conn: memories.keep(conn, work, work.session_db_id, observed, now_ms())
        )

    async def _failed(self, work: queue.Work, outcome: Outcome) -> None:
        text = f"{type(outcome.error).__name__}: {outcome.error}"[:500]
        log.error("observer %s failed: %s", outcome.plugin, text)
        await self._store.awrite(lambda conn: queue.fail(conn, work, text, now_ms()))

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


def _by_session(works: Sequence[queue.Work]) -> list[list[queue.Work]]:
    groups: dict[int, list[queue.Work]] = {}
    for work in sorted(works, key=lambda w: (w.session_db_id, w.prompt_number)):
        groups.setdefault(work.session_db_id, []).append(work)
    return list(groups.values())


def _load(conn: apsw.Connection, work: queue.Work) -> Turn:
    session, number = work.session_db_id, work.prompt_number
    events = journal.load_events(conn, session, number)
    # With those of this very turn: one that goes on after its end replaces them.
    earlier = memories.of_session(conn, session, before_prompt=number + 1)
    about = memories.session(conn, session)
    batch = Batch(
        session_db_id=session,
        project=about.project,
        events=events,
        earlier=earlier,
        finished=work.finished,
        root=about.root,
    )
    return Turn(work, batch)
