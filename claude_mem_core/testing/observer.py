"""The contract of observers: events in, drafts with evidence out.

class TestMine(ObserverContract):
    plugin = "observer.mine"
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar

import anyio
import attrs
import pytest

from claude_mem_core.testing import samples
from claude_mem_core.testing.offer import RecordContract
from claude_mem_core.types import (
    Batch,
    EventKind,
    Observed,
    ObserverRecord,
    StoredEvent,
    Trust,
)

Observe = Callable[[Batch], Observed]
RANK = list(Trust)
WORDS = 12


class ObserverContract(RecordContract[ObserverRecord]):
    """Inherit and name the plugin.

    Attributes:
        deterministic: whether the same batch gives the same drafts.
    """

    hook: ClassVar[str] = "mem_observers"
    kind: ClassVar[type[Any]] = ObserverRecord
    deterministic: ClassVar[bool] = True

    @pytest.fixture
    def observe(self, record: ObserverRecord, values: Mapping[str, Any]) -> Observe:
        """Runs the observer on one batch, opened and closed around it."""

        async def run(batch: Batch) -> Observed:
            observer = record.open(values)
            try:
                return await observer.observe(batch)
            finally:
                await observer.aclose()

        return lambda batch: anyio.run(run, batch)

    def test_a_turn_gives_memories_with_evidence(self, observe: Observe) -> None:
        batch = samples.batch()
        found = observe(batch)
        ids = {stored.id for stored in batch.events}
        assert isinstance(found, Observed)
        assert found.observations or found.summary
        for draft in found.observations:
            assert draft.events, "a memory without evidence"
            assert set(draft.events) <= ids
            assert draft.type
            assert 1 <= len(draft.title.split()) <= WORDS
            assert draft.title not in {"Read", "Edit", "Bash"}

    def test_skipped_events_have_a_reason(self, observe: Observe) -> None:
        batch = samples.batch()
        for skip in observe(batch).skipped:
            assert skip.event_id in {stored.id for stored in batch.events}
            assert skip.reason

    def test_trust_is_that_of_the_weakest_evidence(self, observe: Observe) -> None:
        foreign = attrs.evolve(
            samples.batch(),
            events=[attrs.evolve(e, trust=Trust.FOREIGN) for e in samples.batch().events],
        )
        for draft in observe(foreign).observations:
            assert draft.trust is Trust.FOREIGN
        batch = samples.batch()
        for draft in observe(batch).observations:
            assert RANK.index(draft.trust) <= min(_ranks(batch.events, draft.events))

    def test_an_empty_batch_gives_nothing(self, observe: Observe) -> None:
        found = observe(samples.batch([]))
        assert (found.observations, found.summary) == ((), None)

    def test_an_unfinished_turn_has_no_summary(self, observe: Observe) -> None:
        assert observe(samples.batch(samples.turn()[:-1], finished=False)).summary is None

    def test_the_same_batch_gives_the_same_drafts(self, observe: Observe) -> None:
        if self.deterministic:
            assert observe(samples.batch()) == observe(samples.batch())

    def test_odd_events_are_no_error(self, observe: Observe) -> None:
        odd: list[Any] = [
            None,
            "",
            "x\0\ud800",
            -1,
            [],
            [[]],
            {},
            {"file_path": 3},
            "y" * 70_000,
        ]
        events = [samples.tool(name, value, value) for name in ("", "Bash") for value in odd]
        events += [samples.event(kind) for kind in EventKind]
        observe(samples.batch(events))

    def test_closing_twice_is_no_error(
        self, record: ObserverRecord, values: Mapping[str, Any]
    ) -> None:
        async def close() -> None:
            observer = record.open(values)
            closers: list[Callable[[], Awaitable[None]]] = [observer.aclose] * 2
            for closer in closers:
                await closer()

        anyio.run(close)


def _ranks(events: Any, evidence: tuple[int, ...]) -> list[int]:
    known: dict[int, StoredEvent] = {stored.id: stored for stored in events}
    return [RANK.index(known[event_id].trust) for event_id in evidence]
