"""The contract of sinks: each stored observation is handed on.

class TestMine(SinkContract):
    plugin = "sink.mine"

    def received(self) -> Sequence[str]:
        return self.server.bodies
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import anyio

from claude_mem_core.testing import samples
from claude_mem_core.testing.offer import RecordContract
from claude_mem_core.types import Sink


class SinkContract(RecordContract[Sink]):
    """Inherit, point the settings at a receiver of the test's own, and read it back."""

    hook: ClassVar[str] = "mem_sinks"
    kind: ClassVar[type[Any]] = Sink

    def received(self) -> Sequence[str]:
        """What arrived at the other end, as text. Override it."""
        raise NotImplementedError("override `received` with what arrived at the other end")

    def test_an_observation_arrives(self, record: Sink, values: Mapping[str, Any]) -> None:
        told = samples.observation(title="Sinks are told")

        async def send() -> None:
            sink = record.open(values)
            assert sink is not None, "these settings switch it off; override `values`"
            with anyio.fail_after(record.timeout):
                await sink.send(told)
            await sink.aclose()
            await sink.aclose()  # closing twice is no error

        anyio.run(send)
        assert any("Sinks are told" in text for text in self.received())

    def test_its_timeout_is_short(self, record: Sink) -> None:
        assert 0 < record.timeout <= 60
