"""Recording: from a delivery to a receipt. What is private never passes this module.

The order is the house's: parse, door, clean, journal. A fault in cleaning keeps the
receipt and drops the content; a fault in a policy plugin stops recording.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio.to_thread
import apsw
import attrs

from claude_mem_core.clean.cleaner import Cleaner, CleaningFailed
from claude_mem_core.pipeline import door
from claude_mem_core.pipeline.bus import Bus
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.pipeline.keys import event_key, told_apart
from claude_mem_core.pipeline.moves import Moves
from claude_mem_core.pipeline.origin import trust_of
from claude_mem_core.pipeline.places import Places
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.projects import Place
from claude_mem_core.settings import Settings, SettingsSource
from claude_mem_core.store import Store, journal, projects
from claude_mem_core.store.draft import lowest
from claude_mem_core.types import Event, EventKind, Trust

log = logging.getLogger(__name__)

# Kinds that the observer works on; the others are kept as they are.
WORK = {
    EventKind.TOOL_USED,
    EventKind.TOOL_FAILED,
    EventKind.FILE_EDITED,
    EventKind.TURN_ENDED,
    EventKind.TURN_FAILED,
    # A sub-agent may end after its turn did; the turn is then looked at again.
    EventKind.SUBAGENT_ENDED,
}
INLINE_BYTES = 100_000


@attrs.frozen
class Verdict:
    """What the door and the cleaner made of an event."""

    event: Event
    place: Place
    state: str
    reason: str | None
    trust: Trust


class Recorder:
    """Accepts events. An accepted event is on disk when `accept` returns."""

    def __init__(
        self,
        *,
        settings: SettingsSource,
        registry: Registry,
        store: Store,
        bus: Bus,
        cleaner: Cleaners,
        moves: Moves,
        home: Path | None = None,
    ) -> None:
        self._settings = settings
        self._registry = registry
        self._store = store
        self._bus = bus
        self._cleaners = cleaner
        self.moves = moves
        self.kept = 0  # receipts written by this worker
        self.alone: Callable[[], bool] = lambda: False  # whether only one request is here
        self._places = Places(home)

    def place(self, cwd: str, settings: Settings) -> Place:
        """The project of a directory."""
        return self._places.of(cwd, settings)

    async def accept(
        self,
        event: Event,
        delivery_key: str = "",
        env: Mapping[str, str] | None = None,
        place: Place | None = None,
        dropped: str = "",
        filled: bool = False,
    ) -> journal.Receipt:
        """Judge, clean and journal one event; durable when this returns.

        `place` is where it happened when the event itself does not say; `dropped` why
        the hook left its content out, so that only a receipt can be kept; `filled` that
        the answer was looked up: it must not count for telling the event from others.

        Raises:
            StoreError: it could not be written; the caller keeps the delivery.
        """
        verdict = await self.judge(event, env or {}, place, dropped)
        if verdict.reason is None:
            await self.moves.settle(verdict.place)
        receipt = await self._store.awrite(
            lambda conn: self._journal(conn, verdict, delivery_key, filled),
            alone=self.alone(),
        )
        self.kept += 1
        self._tell(verdict.event, receipt)
        return receipt

    async def accept_all(
        self, events: Sequence[Event], most: Trust = Trust.USER, *, aside: bool = False
    ) -> list[journal.Receipt]:
        """Judge, clean and journal events that were told together, in one transaction.

        `most` is the trust that none of them may exceed; with `aside` they are not queued
        for the observing loop: who hands them in has them observed.

        Raises:
            StoreError: nothing of it was written.
        """
        verdicts = [await self.judge(event, {}, None, "") for event in events]
        verdicts = [_bounded(verdict, most, aside) for verdict in verdicts]
        for verdict in verdicts:
            if verdict.reason is None:
                await self.moves.settle(verdict.place)
        receipts = await self._store.awrite(
            lambda conn: [self._journal(conn, verdict, "", False) for verdict in verdicts]
        )
        self.kept += len(receipts)
        for verdict, receipt in zip(verdicts, receipts, strict=True):
            self._tell(verdict.event, receipt)
        return receipts

    async def fill_answer(self, event_id: int, answer: str) -> None:
        """Give a stop event the final answer that came late; cleaned like any other."""
        text = self._cleaners.current(self._settings.current()).text(answer, "answer")
        await self._store.awrite(lambda conn: journal.fill_answer(conn, event_id, text))

    async def judge(
        self, event: Event, env: Mapping[str, str], given: Place | None = None, dropped: str = ""
    ) -> Verdict:
        """What the door and the cleaner make of an event; nothing is written."""
        settings = self._settings.current()
        place = given or self.place(event.cwd, settings)
        reason = dropped or self._refused(event, place, settings, env)
        if reason is not None:
            return Verdict(_bare(event), place, "skipped", reason, Trust.WORK)
        try:
            clean = await self._clean(event, settings)
        except CleaningFailed as error:
            log.warning("content dropped: %s", error)
            return Verdict(_bare(event), place, "skipped", "cleaning_failed", Trust.WORK)
        return self._judged(event, clean, place)

    def _refused(
        self, event: Event, place: Place, settings: Settings, env: Mapping[str, str]
    ) -> str | None:
        fault = self._registry.recording_fault()
        if fault is not None:
            return "recording_stopped"
        off = door.switched_off(event, env) or door.skip_reason(event, place, settings)
        if off is not None:
            return off
        try:
            return door.ask_plugins(self._registry, event, place.label)
        except door.RecordingStopped as error:
            log.warning("%s", error)
            return "recording_stopped"

    async def _clean(self, event: Event, settings: Settings) -> Event:
        cleaner = self._cleaners.current(settings)
        if _weight(event) <= INLINE_BYTES:
            return cleaner.event(event)
        return await anyio.to_thread.run_sync(cleaner.event, event)

    def _judged(self, event: Event, clean: Event, place: Place) -> Verdict:
        trust = trust_of(event, place)
        if event.kind is EventKind.PROMPT_SENT and _emptied(event.prompt, clean.prompt):
            return Verdict(_bare(event), place, "skipped", "private", trust)
        state = "pending" if event.kind in WORK else "recorded"
        return Verdict(clean, place, state, None, trust)

    def _journal(
        self, conn: apsw.Connection, verdict: Verdict, delivery_key: str, filled: bool
    ) -> journal.Receipt:
        now, event = now_ms(), told_apart(conn, verdict.event)
        sent = attrs.evolve(event, answer=None) if filled else event
        entry = journal.Entry(
            event=event,
            event_key=event_key(conn, sent),
            delivery_key=delivery_key,
            project=projects.resolve(conn, verdict.place, now),
            trust=verdict.trust,
            state=verdict.state,
            reason=verdict.reason,
            now_ms=now,
        )
        return journal.accept(conn, entry)

    def _tell(self, event: Event, receipt: journal.Receipt) -> None:
        if receipt.duplicate or receipt.state == "skipped":
            return
        named = {
            EventKind.PROMPT_SENT: "new_prompt",
            EventKind.SESSION_ENDED: "session_completed",
            EventKind.TURN_ENDED: "summarize_queued",
        }.get(event.kind, "observation_queued" if event.kind in WORK else "")
        if receipt.new_session:
            self._bus.publish("session_started", session_db_id=receipt.session_db_id)
        if named:
            self._bus.publish(
                named,
                session_db_id=receipt.session_db_id,
                event_id=receipt.event_id,
                prompt_number=receipt.prompt_number,
            )


class Cleaners:
    """The cleaner of the present settings, made anew when they change."""

    def __init__(self, registry: Registry, own_id: str) -> None:
        self._registry = registry
        self._own_id = own_id
        self._made: tuple[Any, Cleaner] | None = None

    def current(self, settings: Settings) -> Cleaner:
        """The cleaner for `settings`."""
        if self._made is None or self._made[0] is not settings:
            from claude_mem_core.clean.cleaner import make_cleaner

            self._made = (settings, make_cleaner(self._registry, settings, self._own_id))
        return self._made[1]


def _bare(event: Event) -> Event:
    """The event without anything it said; what a receipt may keep."""
    tool = event.tool
    kept = attrs.evolve(tool, input=None, output=None, error=None) if tool else None
    return attrs.evolve(
        event,
        prompt=None if event.prompt is None else "",
        tool=kept,
        answer=None,
        error=None,
        cwd="",
        transcript=None,
        extra={},
    )


def _bounded(verdict: Verdict, most: Trust, aside: bool) -> Verdict:
    """The verdict with no more trust than allowed, and out of the queue if so wished."""
    state = "recorded" if aside and verdict.state == "pending" else verdict.state
    return attrs.evolve(verdict, trust=lowest([verdict.trust, most]), state=state)


def _emptied(before: str | None, after: str | None) -> bool:
    """Whether cleaning left nothing of something."""
    return bool((before or "").strip()) and not (after or "").strip()


def _weight(event: Event) -> int:
    """Roughly how many characters cleaning has to read."""
    tool = event.tool
    inside = (tool.input, tool.output, tool.error) if tool else ()
    return sum(_size(part) for part in (event.prompt, event.answer, *inside))


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(_size(part) for part in value.values())
    if isinstance(value, list | tuple):
        return sum(map(_size, value))
    return 8
