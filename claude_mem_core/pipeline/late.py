"""Final answers that a host writes to its transcript only after its stop event."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import attrs

from claude_mem_core.errors import MemError
from claude_mem_core.pipeline import transcript
from claude_mem_core.pipeline.adapters import OpenHost
from claude_mem_core.store import journal
from claude_mem_core.types import Delivery, Event, EventKind
from claude_mem_core.types.hookform import MEDIA, UNTOLD

log = logging.getLogger(__name__)

PAUSES = (0.15, 0.25, 0.4, 0.8)  # seconds between looks; hosts were seen to lag 0.4 s

Fill = Callable[[int, str], Coroutine[Any, Any, None]]
Start = Callable[..., object]


class LateAnswers:
    """Reads the final answer from the transcript when the stop event lacks it."""

    def __init__(self, fill: Fill, start: Start, done: Callable[[], None]) -> None:
        self._fill = fill
        self._start = start
        self._done = done

    def fill(self, host: OpenHost, event: Event, delivery: Delivery) -> Event:
        """The event with its answer, when the transcript already has it."""
        if event.kind is not EventKind.TURN_ENDED or event.answer or not event.transcript:
            return event
        answer = _look(host, event, delivery)
        return attrs.evolve(event, answer=answer) if answer else event

    def prompted(self, host: OpenHost, event: Event, delivery: Delivery) -> Event | None:
        """The event; a prompt that no hook tells with its words, None while there are none."""
        if event.kind is not EventKind.PROMPT_SENT or event.prompt != UNTOLD:
            return event
        try:
            found = transcript.last_prompt(host.record, host.adapter, event, delivery.env)
        except (OSError, MemError) as error:
            log.info("transcript not read: %s", error)
            return None
        if found is None:
            return None
        number, words = found
        return attrs.evolve(event, prompt_id=number, prompt=words if words.strip() else MEDIA)

    def watch(
        self, host: OpenHost, event: Event, delivery: Delivery, receipt: journal.Receipt
    ) -> None:
        """Look again a few times, after the host has its reply."""
        if event.transcript and not receipt.duplicate and receipt.state == "pending":
            self._start(self._watch, host, event, delivery, receipt.event_id)

    async def _watch(
        self, host: OpenHost, event: Event, delivery: Delivery, event_id: int
    ) -> None:
        for pause in PAUSES:
            await anyio.sleep(pause)
            answer = _look(host, event, delivery)
            if answer:
                await self._fill(event_id, answer)
                break
        self._done()


def _look(host: OpenHost, event: Event, delivery: Delivery) -> str | None:
    try:
        return transcript.final_answer(host.record, host.adapter, event, delivery.env)
    except (OSError, MemError) as error:
        log.info("transcript not read: %s", error)
        return None
