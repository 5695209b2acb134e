"""The contract of policies: whether an event is kept.

class TestMine(PolicyContract):
    plugin = "policy.mine"
    skipped = [samples.event(EventKind.PROMPT_SENT, prompt="off the record")]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from claude_mem_core.plugins.registry import Registry
from claude_mem_core.testing import samples
from claude_mem_core.testing.plugin import PluginContract
from claude_mem_core.types import Event, EventKind


class PolicyContract(PluginContract):
    """Inherit and give events that the policy must skip.

    Attributes:
        skipped: events it refuses.
        kept: events it does not refuse.
    """

    skipped: ClassVar[Sequence[Event]] = ()
    kept: ClassVar[Sequence[Event]] = ()

    def _answer(self, registry: Registry, event: Event) -> object:
        return registry.first("mem_should_record", event=event, project="shop")

    def test_refuses_what_it_is_for(self, registry: Registry) -> None:
        assert self.skipped, "give at least one event to skip"
        for event in self.skipped:
            answer = self._answer(registry, event)
            assert answer is False or (isinstance(answer, str) and answer)

    def test_lets_the_others_pass(self, registry: Registry) -> None:
        for event in self.kept:
            assert self._answer(registry, event) in {None, True}

    def test_every_kind_of_event_has_an_answer(self, registry: Registry) -> None:
        for event in (*map(samples.event, EventKind), *samples.turn()):
            self._answer(registry, event)
        assert registry.recording_fault() is None
