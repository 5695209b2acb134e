"""The observing loop: claims turns, asks the observer, keeps what it made.

In order within a session, several sessions at once. Event-driven: `wake` after a turn
ended; a slow sweep catches what no event announces (idle turns, expired leases).

Where a provider is chosen, rules come first all the same: what they make of a turn is
there at once and gives way to what the model makes of it, whenever that may be.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import anyio
import apsw
from anyio.abc import TaskGroup

from claude_mem_core.paths import Paths
from claude_mem_core.pipeline import turns
from claude_mem_core.pipeline.bus import Bus
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.pipeline.keeping import Keeper
from claude_mem_core.pipeline.models import Models
from claude_mem_core.pipeline.record import Cleaners
from claude_mem_core.plugins.calls import Outcome, call_async, describe
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.providing.choice import BUILTIN, CHOICE, chosen
from claude_mem_core.settings import SettingsSource
from claude_mem_core.store import Store, memories, queue
from claude_mem_core.types import Batch, Observed, Observer, ObserverRecord

if TYPE_CHECKING:
    from claude_mem_core.pipeline.later import Later

log = logging.getLogger(__name__)

LEASE_MS = 300_000
IDLE_MS = 120_000
SWEEP_S = 5.0
PAUSE_S = 2.0
SESSIONS = 4
CLAIM = 32


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
        paths: Paths | None = None,
        models: Models | None = None,
    ) -> None:
        self._store = store
        self._registry = registry
        self._settings = settings
        self._paths = paths
        self._models = models
        self._keeper = Keeper(
            store=store, registry=registry, settings=settings, bus=bus, cleaners=cleaners,
            kept=kept,
        )  # fmt: skip
        self._wake = anyio.Event()
        self._force = False
        self._observers: dict[str, Observer] = {}
        self._later: Later | None = None
        self._tasks: TaskGroup | None = None
        self._round = anyio.Lock()
        self._rested = anyio.Event()
        self._asked = self._served = 0
        self._busy = 0

    @property
    def busy(self) -> int:
        """Sessions that are being worked on."""
        return self._busy + (len(self._later.sessions) if self._later else 0)

    async def held(self) -> str | None:
        """Why no model can be asked; None when one can, or when none was chosen."""
        if self._models is None or not self.provider():
            return None
        found = await self._models.dispatcher.obstacle()
        return None if found is None else str(found)

    def wake(self, *, force: bool = False) -> None:
        """Look for work now; with `force` also at turns that are not over."""
        self._force = self._force or force
        self._wake.set()

    async def run(self) -> None:
        """Work until cancelled; a fault of the store is logged and outlived."""
        await self._outlived(self._resume)
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            while True:
                with anyio.move_on_after(SWEEP_S):
                    await self._wake.wait()
                self._wake = anyio.Event()
                asked = self._asked
                force, self._force = self._force, False
                await self._outlived(self.drain, force)
                self._served = asked
                self._told_rested()

    def _told_rested(self) -> None:
        self._rested.set()
        self._rested = anyio.Event()

    async def drain(self, force: bool = False) -> int:
        """Do all work that is ready; return how many turns were done.

        What a model is asked for goes on in the background.
        """
        done = 0
        async with self._round:
            while works := await self._claim(force):
                await self._work_off(works)
                done += len(works)
            if self._tasks is not None and (provider := self.provider()):
                await self._asked_later().start(provider, self._tasks)
        return done

    async def settle(self, seconds: float) -> bool:
        """Wait, for at most `seconds`, until what is ready now has been done; was it?

        The work itself is never cut off: a cancelled claim would wait for its lease.
        """
        self._asked += 1
        mine = self._asked
        self.wake()
        with anyio.move_on_after(seconds):
            while self._served < mine or self.busy:
                await self._rested.wait()
        return self._served >= mine and not self.busy

    async def _resume(self) -> int:
        return await self._store.awrite(lambda conn: queue.resume(conn, now_ms()))

    async def _outlived(self, work: Callable[..., Awaitable[int]], *args: bool) -> None:
        outcome = await call_async("observing", work, *args)
        if outcome.error is not None:
            log.error("observing paused: %s", describe(outcome.error))
            await anyio.sleep(PAUSE_S)

    async def forget_talks(self) -> None:
        """Drop what was said with models: deleted text must not come back through them."""
        if self._later is not None:
            self._later.asking.forget_talks()
        observers, self._observers = self._observers, {}
        for observer in observers.values():
            await observer.aclose()

    async def aclose(self) -> None:
        """Close the observers that were opened."""
        for observer in self._observers.values():
            await observer.aclose()
        if self._models is not None:
            await self._models.aclose()

    # Who observes ---------------------------------------------------------------------

    def provider(self) -> str | None:
        """The provider to ask; None where an observer of the worker's own does the work."""
        settings = self._settings.current()
        if self._models is None or settings[CHOICE] in self._records():
            return None
        name = chosen(settings, CHOICE)
        return None if name == BUILTIN else name

    def _records(self) -> dict[str, ObserverRecord]:
        return {r.name: r for r in self._registry.records("mem_observers", ObserverRecord)}

    def _observer(self, name: str) -> Observer:
        """The chosen observer; the built-in one when it is not to be had."""
        if name not in self._observers:
            known = self._records()
            record = known.get(name) or known[BUILTIN]
            self._observers[name] = record.open(self._settings.current())
        return self._observers[name]

    async def _rules(self, batch: Batch) -> Observed:
        return await self._observer(BUILTIN).observe(batch)

    def _asked_later(self) -> Later:
        """Imported when a provider is chosen: without one the worker stays small."""
        if self._later is None:
            from claude_mem_core.pipeline.asking import Asking
            from claude_mem_core.pipeline.later import Later

            assert self._paths is not None
            assert self._models is not None
            self._later = Later(
                store=self._store, settings=self._settings, keeper=self._keeper,
                rules=self._rules, asking=Asking(self._paths, self._settings, self._models),
                ended=self._model_ended,
            )  # fmt: skip
        return self._later

    def _model_ended(self) -> None:
        self.wake()
        self._told_rested()

    # The work -------------------------------------------------------------------------

    async def _claim(self, force: bool) -> list[queue.Work]:
        now = now_ms()
        part = queue.FRESH if self.provider() else queue.ALL

        def claim(conn: apsw.Connection) -> list[queue.Work]:
            queue.release_stale(conn, now)
            return queue.claim(conn, now, LEASE_MS, CLAIM, IDLE_MS, force=force, part=part)

        if not await self._store.aread(lambda conn: queue.any_waiting(conn, part)):
            return []
        return await self._store.awrite(claim)

    async def _work_off(self, works: Sequence[queue.Work]) -> None:
        limit = anyio.CapacityLimiter(SESSIONS)
        async with anyio.create_task_group() as tasks:
            for group in turns.by_session(works):
                tasks.start_soon(self._session, group, limit)

    async def _session(self, works: Iterable[queue.Work], limit: anyio.CapacityLimiter) -> None:
        async with limit:
            self._busy += 1
            try:
                for work in works:
                    await self._one(work)
            finally:
                self._busy -= 1

    async def _one(self, work: queue.Work) -> None:
        provider = self.provider()
        turn = await self._load(work, provider)
        name = str(self._settings.current()["CLAUDE_MEM_PROVIDER"] or BUILTIN)
        observer = self._observer(BUILTIN if provider else name)
        outcome = await call_async(name, observer.observe, turn.batch)
        if outcome.error is not None:
            await self._failed(work, outcome)
        elif provider and self._worth_asking(turn.batch):
            await self._keeper.keep_meanwhile(turn, outcome.value, await self.held())
        else:
            await self._keeper.keep(turn, outcome.value)

    async def _load(self, work: queue.Work, provider: str | None) -> turns.Turn:
        if provider is None:
            return await self._store.aread(lambda conn: turns.whole(conn, work))
        return await self._store.aread(lambda conn: turns.unseen(conn, work, more=True))

    async def _failed(self, work: queue.Work, outcome: Outcome) -> None:
        text = f"{type(outcome.error).__name__}: {outcome.error}"[:500]
        log.error("observer %s failed: %s", outcome.plugin, text)
        await self._store.awrite(lambda conn: queue.fail(conn, work, text, now_ms()))

    def _worth_asking(self, batch: Batch) -> bool:
        from claude_mem_core.modelled.observer import is_small_talk

        bare = bool(self._settings.current()["CLAUDE_MEM_OBSERVE_BARE_PROMPTS"])
        return not is_small_talk(batch, bare=bare)
