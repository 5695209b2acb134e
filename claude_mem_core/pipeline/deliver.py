"""Deliveries: what the hook client hands in, and what goes back to the host."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import attrs

from claude_mem_core.errors import InvalidInput, StoreError
from claude_mem_core.pipeline import oversize
from claude_mem_core.pipeline.adapters import Adapters, OpenHost
from claude_mem_core.pipeline.advisor import Advisor
from claude_mem_core.pipeline.answer import Answers
from claude_mem_core.pipeline.excuse import NotStored, excuse, notice_of
from claude_mem_core.pipeline.index import Indexer
from claude_mem_core.pipeline.late import LateAnswers
from claude_mem_core.pipeline.observe import ObserveLoop
from claude_mem_core.pipeline.record import Recorder
from claude_mem_core.pipeline.testevent import TestEvents, is_test
from claude_mem_core.pipeline.told import Told
from claude_mem_core.plugins.calls import call_async, describe
from claude_mem_core.store import journal
from claude_mem_core.types import Answer, Delivery, Event, EventKind, Output

log = logging.getLogger(__name__)

WAKING = {EventKind.TURN_ENDED, EventKind.TURN_FAILED, EventKind.SESSION_ENDED}


class Deliverer:
    """Parses a delivery, records its events, words the reply."""

    def __init__(
        self,
        *,
        adapters: Adapters,
        recorder: Recorder,
        answers: Answers,
        loop: ObserveLoop,
        late: LateAnswers,
        indexer: Indexer,
        told: Told,
        advisor: Advisor,
        tests: TestEvents,
        active: Callable[[], None] = lambda: None,
    ) -> None:
        self._adapters = adapters
        self._recorder = recorder
        self._answers = answers
        self._loop = loop
        self._late = late
        self._indexer = indexer
        self._told = told
        self._advisor = advisor
        self._tests = tests
        self._active = active
        self.refused = 0

    async def handle(self, delivery: Delivery) -> Output:
        """Accept what was delivered and return what the host is told.

        Raises:
            UnknownHost: no plugin speaks for this host; the delivery has to wait.
            NotStored: nothing could be written; the delivery has to wait.
        """
        self._active()
        host = self._adapters.get(delivery.host)
        if oversize.is_cut(delivery):
            delivery = oversize.mended(delivery)
        try:
            events = host.adapter.parse(delivery)
        except InvalidInput as refusal:
            return self._refuse(host, delivery, refusal)
        try:
            answer = await self._record(host, delivery, events)
        except StoreError as error:
            told = excuse(host, events, str(error))
            raise NotStored(str(error), told) from error
        return host.adapter.reply(answer)

    def _refuse(self, host: OpenHost, delivery: Delivery, refusal: InvalidInput) -> Output:
        self.refused += 1
        # Any other word could be what somebody said.
        name = delivery.event if delivery.event in host.record.hooks else "an unknown event"
        log.warning("%s %s not understood: %s", delivery.host, name, refusal)
        return host.adapter.reply(Answer(host_event=delivery.event))

    async def _record(
        self, host: OpenHost, delivery: Delivery, events: Sequence[Event]
    ) -> Answer:
        answers = [Answer(host_event=delivery.event)]
        told = (self._late.prompted(host, event, delivery) for event in events)
        for number, event in enumerate(event for event in told if event is not None):
            event = _marked(event, delivery)
            key = delivery.key if number == 0 else f"{delivery.key}.{number}"
            answers.append(await self._one(host, delivery, event, key))
        return together(answers, host.record.context_chars)

    async def _one(self, host: OpenHost, delivery: Delivery, event: Event, key: str) -> Answer:
        if is_test(event):
            return await self._tested(event, delivery)
        receipt = None
        if event.kind is not EventKind.TOOL_STARTING:
            sent, event = event, self._late.fill(host, event, delivery)
            receipt = await self._recorder.accept(
                event, key, delivery.env, dropped=delivery.dropped, filled=event is not sent
            )
            self._after(host, delivery, event, receipt)
        if delivery.spooled:  # nobody waits for this answer any more
            return Answer(kind=event.kind, host_event=event.host_event)
        return await self._answered(host, delivery, event, receipt)

    async def _tested(self, event: Event, delivery: Delivery) -> Answer:
        if not delivery.spooled:
            await self._tests.take(event, delivery.env)
        return Answer(kind=event.kind, host_event=event.host_event)

    async def _answered(
        self, host: OpenHost, delivery: Delivery, event: Event, receipt: journal.Receipt | None
    ) -> Answer:
        """The answer; the event is on disk by now, so a fault here costs the answer only."""
        asked = (event, host, receipt, delivery.env)
        outcome = await call_async("answer", self._answers.to, *asked)
        if outcome.error is None:
            return outcome.value  # type: ignore[no-any-return]
        log.error("no answer to %s: %s", event.kind.value, describe(outcome.error))
        broken = isinstance(outcome.error, StoreError)
        notice = notice_of(str(outcome.error)) if broken else ""
        return Answer(kind=event.kind, host_event=event.host_event, notice=notice)

    def _after(
        self, host: OpenHost, delivery: Delivery, event: Event, receipt: journal.Receipt
    ) -> None:
        self._told.of(event, receipt)
        self._advisor.of(host, event, receipt, delivery.env)
        if event.kind in WAKING:
            self._loop.wake()
        elif event.kind is EventKind.PROMPT_SENT:
            self._indexer.wake()
        if event.kind is EventKind.TURN_ENDED and not event.answer:
            self._late.watch(host, event, delivery, receipt)


def together(answers: Sequence[Answer], limit: int) -> Answer:
    """The answer to all events of a delivery: the last one, with the context of each.

    What would go beyond `limit` characters is left out whole; 0 for no limit.
    """
    context = ""
    for answer in answers:
        more = "\n".join(filter(None, (context, answer.context)))
        context = more if not limit or len(more) <= limit else context
    return attrs.evolve(answers[-1], context=context)


def _marked(event: Event, delivery: Delivery) -> Event:
    """The event with its time, and with the host's wish for no summary."""
    if not event.at_ms:
        event = attrs.evolve(event, at_ms=delivery.at_ms)
    silent = delivery.env.get("CLAUDE_MEM_DISABLE_SUMMARY") == "1"
    if silent and event.kind is EventKind.TURN_ENDED:
        event = attrs.evolve(event, extra={**event.extra, "no_summary": True})
    return event
