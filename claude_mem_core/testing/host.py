"""The contract of hosts, run on recorded calls of the real program.

class TestKimi(HostContract):
    plugin = "host.kimi"
    payloads = Path(__file__).parent / "payloads"
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import attrs
import pytest

from claude_mem_core.convert import event_from_json, event_to_json
from claude_mem_core.errors import InvalidInput
from claude_mem_core.testing.offer import RecordContract
from claude_mem_core.testing.samples import recorded
from claude_mem_core.types import (
    Answer,
    Delivery,
    Event,
    EventKind,
    Host,
    HostAdapter,
    Output,
)

REASONS = ("empty", "not-json", "not-an-object", "truncated", "missing-field: ")
NOT_A_PAYLOAD = [
    b"",
    b" \r\n",
    b"\0\0",
    b"{",
    b"nonsense",
    b"[]",
    b'"x"',
    b"3",
    b"null",
    b"\xff",
]
ODD_VALUES: list[Any] = [
    None,
    True,
    -1,
    1e308,
    "",
    "x\0y",
    "\ud800",
    "a" * 100_000,
    [],
    [[]],
    {},
]
CONTEXT = 'one "quoted" line\nümlaut 漢字 \\ back\tslash </x> <!-- $HOME `id`'


class HostContract(RecordContract[Host]):
    """Inherit and name the folder of recorded calls.

    Attributes:
        payloads: folder of `*.json`, one recorded hook call each (see `samples.recorded`).
        kinds: kinds of events that must come out of the recorded calls.
    """

    hook: ClassVar[str] = "mem_hosts"
    kind: ClassVar[type[Any]] = Host
    payloads: ClassVar[Path]
    kinds: ClassVar[frozenset[EventKind]] = frozenset(
        {EventKind.PROMPT_SENT, EventKind.TOOL_USED, EventKind.TURN_ENDED}
    )

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One test for each recorded call."""
        if "call" in metafunc.fixturenames:
            files = sorted(self.payloads.glob("*.json"))
            assert files, f"no recorded calls in {self.payloads}"
            metafunc.parametrize("call", files, ids=[file.stem for file in files])

    @pytest.fixture
    def adapter(self, record: Host) -> HostAdapter:
        """The host's adapter, opened."""
        return record.open()

    @pytest.fixture
    def delivery(self, call: Path, record: Host) -> Delivery:
        """The recorded call as it reaches the worker."""
        return recorded(record.name, call)

    # Reading -----------------------------------------------------------------

    def test_reads_a_recorded_call(
        self, adapter: HostAdapter, delivery: Delivery, record: Host
    ) -> None:
        for event in adapter.parse(delivery):
            assert isinstance(event, Event)
            assert event.host == record.name
            assert event.session_id
            assert event.at_ms == delivery.at_ms
            assert event.host_event, "the reply needs the host's own word"
            assert event_from_json(event_to_json(event)) == event

    def test_reading_is_pure(self, adapter: HostAdapter, delivery: Delivery) -> None:
        kept = attrs.asdict(delivery)
        assert adapter.parse(delivery) == adapter.parse(delivery)
        assert attrs.asdict(delivery) == kept

    def test_tool_uses_carry_their_tool(self, adapter: HostAdapter, delivery: Delivery) -> None:
        for event in adapter.parse(delivery):
            if event.kind in {EventKind.TOOL_USED, EventKind.TOOL_FAILED}:
                assert event.tool is not None
                assert event.tool.name
            if event.kind is EventKind.PROMPT_SENT:
                assert event.prompt

    def test_the_recorded_calls_show_a_whole_turn(
        self, adapter: HostAdapter, record: Host
    ) -> None:
        calls = [recorded(record.name, file) for file in self.payloads.glob("*.json")]
        seen = {event.kind for call in calls for event in adapter.parse(call)}
        assert seen >= self.kinds

    def test_half_a_call_is_refused(self, adapter: HostAdapter, delivery: Delivery) -> None:
        half = attrs.evolve(delivery, stdin=delivery.stdin[: len(delivery.stdin) // 2])
        with pytest.raises(InvalidInput) as caught:
            adapter.parse(half)
        assert str(caught.value).startswith(REASONS)

    @pytest.mark.parametrize("stdin", NOT_A_PAYLOAD)
    def test_what_is_no_payload_is_refused(
        self, adapter: HostAdapter, record: Host, stdin: bytes
    ) -> None:
        with pytest.raises(InvalidInput) as caught:
            adapter.parse(Delivery(host=record.name, event="", stdin=stdin))
        assert str(caught.value).startswith(REASONS)

    def test_odd_values_are_read_or_refused(
        self, adapter: HostAdapter, delivery: Delivery
    ) -> None:
        for odd in _oddities(delivery):
            assert _read_or_refused(adapter, odd)

    def test_unknown_fields_change_nothing(
        self, adapter: HostAdapter, delivery: Delivery
    ) -> None:
        payload = {**json.loads(delivery.stdin), "a_field_of_tomorrow": {"x": [1]}}
        grown = attrs.evolve(delivery, stdin=json.dumps(payload).encode())
        known = [attrs.evolve(event, extra={}) for event in adapter.parse(delivery)]
        assert [attrs.evolve(event, extra={}) for event in adapter.parse(grown)] == known

    # Answering ---------------------------------------------------------------

    def test_context_reaches_the_agent_where_the_record_says(
        self, adapter: HostAdapter, record: Host
    ) -> None:
        calls = [recorded(record.name, file) for file in self.payloads.glob("*.json")]
        seen = set()
        for event in (event for call in calls for event in adapter.parse(call)):
            if event.kind in record.injects_at:
                seen.add(event.kind)
                answer = Answer(kind=event.kind, host_event=event.host_event, context=CONTEXT)
                assert _carries(adapter.reply(answer), CONTEXT)
        assert seen or not record.injects_at, f"no recorded call of {record.injects_at}"

    def test_an_empty_answer_is_a_valid_no_op(
        self, adapter: HostAdapter, delivery: Delivery
    ) -> None:
        answers = [Answer(), Answer(host_event=delivery.event)]
        answers += [
            Answer(kind=event.kind, host_event=event.host_event)
            for event in adapter.parse(delivery)
        ]
        for answer in answers:
            output = adapter.reply(answer)
            assert isinstance(output, Output)
            assert (output.exit, output.stderr) == (0, "")

    @pytest.mark.parametrize("kind", list(EventKind))
    def test_every_answer_can_be_printed(self, adapter: HostAdapter, kind: EventKind) -> None:
        output = adapter.reply(Answer(kind=kind, context=CONTEXT, notice="one line"))
        output.stdout.encode("utf-8")
        assert output.exit == 0, "a hook of ours never stops the host"


def _read_or_refused(adapter: HostAdapter, delivery: Delivery) -> bool:
    try:
        events = adapter.parse(delivery)
    except InvalidInput as error:
        return str(error).startswith(REASONS)
    return all(isinstance(event, Event) for event in events)


def _carries(output: Output, context: str) -> bool:
    """Whether the text stands in the output, plainly or inside JSON."""
    return context in output.stdout or json.dumps(context)[1:-1] in output.stdout


def _oddities(delivery: Delivery) -> Iterator[Delivery]:
    payload = json.loads(delivery.stdin)
    deep: Any = "x"
    for _ in range(500):
        deep = [deep]
    for name in payload:
        less = {key: value for key, value in payload.items() if key != name}
        yield attrs.evolve(delivery, stdin=json.dumps(less).encode())
        for value in (*ODD_VALUES, deep):
            text = json.dumps({**payload, name: value})
            yield attrs.evolve(delivery, stdin=text.encode())
