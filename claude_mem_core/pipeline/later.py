"""Turns that wait for a model: claimed when one can be asked, several sessions at once.

A request takes long, so each session has a task of its own and no other work waits.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

import anyio
import apsw
from anyio.abc import TaskGroup

from claude_mem_core.errors import ProviderError
from claude_mem_core.pipeline import turns
from claude_mem_core.pipeline.asking import Asking
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.pipeline.keeping import Keeper
from claude_mem_core.plugins.calls import Outcome, call_async, describe
from claude_mem_core.providing.budget import OverBudget
from claude_mem_core.providing.policy import OWN
from claude_mem_core.settings import SettingsSource
from claude_mem_core.store import Store, queue
from claude_mem_core.types import Batch, Observed

log = logging.getLogger(__name__)

LEASE_MS = 300_000
RENEW_S = 60.0
IDLE_MS = 0  # whatever waits for a model is ready
REST_MS = 60_000


class Later:
    """Observes waiting turns with a model, in the background."""

    def __init__(
        self,
        *,
        store: Store,
        settings: SettingsSource,
        keeper: Keeper,
        rules: Callable[[Batch], Awaitable[Observed]],
        asking: Asking,
        ended: Callable[[], None],
    ) -> None:
        self._store = store
        self._settings = settings
        self._keeper = keeper
        self._rules = rules
        self._ended = ended
        self.asking = asking
        self.sessions: set[int] = set()
        self._resting: dict[int, int] = {}  # sessions, and until when nothing is asked for them

    async def start(self, provider: str, tasks: TaskGroup) -> None:
        """Begin with what waits, as far as there is somebody to ask and room for it."""
        free = int(self._settings.current()["CLAUDE_MEM_MAX_CONCURRENT_AGENTS"])
        free -= len(self.sessions)
        if free <= 0:
            return
        if not await self._store.aread(lambda conn: queue.any_waiting(conn, queue.DEFERRED)):
            return
        if await self.asking.obstacle() is not None:
            return
        works = await self._store.awrite(lambda conn: self._claim(conn, free))
        for group in turns.by_session(works):
            self.sessions.add(group[0].session_db_id)
            tasks.start_soon(self._session, provider, group)

    def _claim(self, conn: apsw.Connection, limit: int) -> list[queue.Work]:
        now = now_ms()
        self._resting = {key: until for key, until in self._resting.items() if until > now}
        return queue.claim(
            conn, now, LEASE_MS, limit, IDLE_MS, part=queue.DEFERRED, without=self._resting
        )

    async def _session(self, provider: str, works: Sequence[queue.Work]) -> None:
        outcome = await call_async("observing", self._turns, provider, works)
        if outcome.error is not None:
            log.error("observing with %s paused: %s", provider, describe(outcome.error))
        self.sessions.discard(works[0].session_db_id)
        self._ended()

    async def _turns(self, provider: str, works: Sequence[queue.Work]) -> None:
        for at, work in enumerate(works):
            outcome = await call_async("observing", self._one, provider, work)
            if outcome.error is not None:
                await self._failed(work, outcome)
            if outcome.error is not None or not outcome.value:
                for left in works[at + 1 :]:
                    await self._defer(left, None)
                return

    async def _failed(self, work: queue.Work, outcome: Outcome) -> None:
        text = f"{type(outcome.error).__name__}: {outcome.error}"[:500]
        log.error("a turn could not be kept: %s", text)
        await self._store.awrite(lambda conn: queue.fail(conn, work, text, now_ms()))

    async def _one(self, provider: str, work: queue.Work) -> bool:
        """Observe one turn; False when nobody can be asked any more."""
        turn = await self._store.aread(lambda conn: turns.unseen(conn, work, more=False))
        outcome = await self._observed(provider, turn)
        if isinstance(outcome.error, ProviderError) and outcome.error.failure not in OWN:
            self._rest(work.session_db_id, outcome.error)
            await self._defer(work, str(outcome.error))
            return False
        if outcome.error is not None:
            log.error("a turn is left to rules: %s", describe(outcome.error))
        made = outcome.value if outcome.error is None else await self._rules(turn.batch)
        await self._keeper.keep(turn, made)
        return True

    async def _observed(self, provider: str, turn: turns.Turn) -> Outcome:
        async with anyio.create_task_group() as beside:
            beside.start_soon(self._renew, turn.work)
            outcome = await call_async(provider, self.asking.observe, turn.batch, self._rules)
            beside.cancel_scope.cancel()
        return outcome

    def _rest(self, session: int, error: ProviderError) -> None:
        """A session over its own budget is left alone for a while; the others go on."""
        if isinstance(error, OverBudget):
            self._resting[session] = now_ms() + REST_MS

    async def _renew(self, work: queue.Work) -> None:
        """Show that the work goes on; a lease that runs out counts as a failure."""
        while True:
            await anyio.sleep(RENEW_S)
            until = now_ms() + LEASE_MS
            await self._store.awrite(lambda conn: queue.renew(conn, work, until))  # noqa: B023

    async def _defer(self, work: queue.Work, reason: str | None) -> None:
        text = reason[:500] if reason else None
        await self._store.awrite(lambda conn: queue.defer(conn, work, text))
