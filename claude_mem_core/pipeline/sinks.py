"""Sinks: places that hear of each stored observation, one at a time and beside the work.

What a sink's service says in an error may hold an address or a key, so that only our own
errors are shown in their words; of any other, its type.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterable, Mapping
from typing import Any

import anyio
import attrs
from anyio.abc import TaskGroup

from claude_mem_core.errors import MemError, NotFound
from claude_mem_core.pipeline.bus import Bus, Notice
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.plugins.calls import call_async, call_sync
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.recall.suspicion import instruction_like
from claude_mem_core.settings import SettingsSource
from claude_mem_core.settings.pausing import is_paused
from claude_mem_core.store import Store, memories, personal
from claude_mem_core.types import Delivering, Observation, Sink, Trust

log = logging.getLogger(__name__)

CLOSE_S = 1.0
AT_ONCE = 8  # sends of one sink; what comes meanwhile is lost to it, and counted


@attrs.define
class Place:
    """One sink, opened with the settings as they were, and how it has done.

    Attributes:
        fault: what went wrong last; empty once something arrived again.
    """

    record: Sink
    opened: Delivering | None = None
    settings: Mapping[str, Any] | None = None
    sending: int = 0
    told: int = 0
    failed: int = 0
    lost: int = 0
    fault: str = ""
    failed_ms: int = 0

    def as_json(self) -> dict[str, Any]:
        """For the status."""
        return {
            "on": self.opened is not None, "told": self.told, "failed": self.failed,
            "lost": self.lost, "fault": self.fault, "failed_ms": self.failed_ms,
        }  # fmt: skip

    def went_wrong(self, text: str) -> None:
        """Note a fault; the log gets it once until something arrives again."""
        self.failed += 1
        self.failed_ms = now_ms()
        if text != self.fault:
            log.warning("sink %s: %s", self.record.name, text)
        self.fault = text


class Sinks:
    """Tells all sinks; none holds up storing, or another one."""

    def __init__(
        self, *, registry: Registry, settings: SettingsSource, store: Store, bus: Bus
    ) -> None:
        self._registry = registry
        self._settings = settings
        self._store = store
        self._bus = bus
        self._places: list[Place] = []
        self.heard = 0  # observations, since the start

    def state(self) -> dict[str, dict[str, Any]]:
        """How each sink does, by its name."""
        return {place.record.name: place.as_json() for place in self._places}

    async def run(self) -> None:
        """Tell of what is stored until cancelled."""
        self._places = [Place(s) for s in self._registry.records("mem_sinks", Sink)]
        if not self._places:
            return
        try:
            with self._bus.subscribe() as notices:
                async with anyio.create_task_group() as tasks:
                    await self._listen(notices, tasks)
        finally:
            for place in self._places:
                await _closed(place.record.name, place.opened)

    async def _listen(self, notices: AsyncIterable[Notice], tasks: TaskGroup) -> None:
        for place in self._places:
            await self._reopen(place)
        async for notice in notices:
            if notice.type == "new_observation":
                await self._tell(int(notice.data["id"]), tasks)
                self.heard += 1

    async def _tell(self, number: int, tasks: TaskGroup) -> None:
        for place in self._places:
            await self._reopen(place)
        if not any(place.opened for place in self._places):
            return
        observation = await self._seen(number)
        if observation is not None:
            for place in self._places:
                self._hand(place, observation, tasks)

    async def _reopen(self, place: Place) -> None:
        """Open a sink anew when the settings have changed."""
        settings = self._settings.current()
        if dict(settings) == place.settings:
            return
        before, place.opened, place.settings = place.opened, None, dict(settings)
        await _closed(place.record.name, before)
        outcome = call_sync(place.record.name, place.record.open, settings)
        if outcome.error is not None:
            place.went_wrong(said(outcome.error, place.record))
        else:
            place.opened, place.fault = outcome.value, ""

    async def _seen(self, number: int) -> Observation | None:
        """What may go out. Not in a pause, and nothing that reads like an order."""
        if is_paused(self._settings.current()):
            return None
        try:
            found, own = await self._store.aread(
                lambda conn: (memories.observation(conn, number), personal.ids(conn))
            )
        except NotFound:  # deleted meanwhile
            return None
        words = (found.title, found.subtitle, found.narrative)
        order = found.trust is Trust.FOREIGN and instruction_like(*words)
        return None if order or number in own else found

    def _hand(self, place: Place, observation: Observation, tasks: TaskGroup) -> None:
        if place.opened is None:
            return
        if place.sending >= AT_ONCE:
            place.lost += 1
            return
        place.sending += 1
        tasks.start_soon(_send, place, place.opened, observation)


async def _send(place: Place, opened: Delivering, observation: Observation) -> None:
    async def within() -> None:
        with anyio.fail_after(place.record.timeout):
            await opened.send(observation)

    try:
        outcome = await call_async(place.record.name, within)
    finally:
        place.sending -= 1
    if outcome.error is not None:
        place.went_wrong(said(outcome.error, place.record))
    else:
        place.told += 1
        place.fault = ""


async def _closed(name: str, opened: Delivering | None) -> None:
    if opened is None:
        return
    with anyio.move_on_after(CLOSE_S, shield=True):
        outcome = await call_async(name, opened.aclose)
        if outcome.error is not None:
            log.warning("sink %s does not close: %s", name, type(outcome.error).__name__)


def said(error: BaseException, record: Sink) -> str:
    """A fault in words that hold no address and no key."""
    if isinstance(error, MemError):
        return str(error)
    if isinstance(error, TimeoutError):
        return f"no answer within {record.timeout:g} s"
    return type(error).__name__
