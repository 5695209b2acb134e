"""The contract of transcripts: real ones are told as events, the same at every reading.

class TestKimiTranscripts(TranscriptsContract):
    plugin = "host.kimi"
    transcripts = Path(__file__).parent / "transcripts"
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from claude_mem_core.convert import event_from_json, event_to_json
from claude_mem_core.testing.host import ODD_VALUES
from claude_mem_core.testing.offer import RecordContract
from claude_mem_core.transcripts import Found, find, reader_of, records_of
from claude_mem_core.types import Event, EventKind, Host
from claude_mem_core.types.retelling import FROM

TOOLS = {EventKind.TOOL_USED, EventKind.TOOL_FAILED}


def told(found: Found, records: Sequence[Mapping[str, Any]]) -> list[Event]:
    """What a new reader makes of records."""
    reader = reader_of(found)
    events = [event for record in records for event in reader.read(record)]
    return [*events, *reader.rest()]


class TranscriptsContract(RecordContract[Host]):
    """Inherit and name a folder that stands for one of the host's roots.

    Attributes:
        transcripts: folder with real transcripts, laid out as the host does.
        kinds: kinds of events that must come out of them.
    """

    hook: ClassVar[str] = "mem_hosts"
    kind: ClassVar[type[Any]] = Host
    transcripts: ClassVar[Path]
    kinds: ClassVar[frozenset[EventKind]] = frozenset(
        {
            EventKind.SESSION_STARTED,
            EventKind.PROMPT_SENT,
            EventKind.TOOL_USED,
            EventKind.TURN_ENDED,
        }
    )

    @pytest.fixture
    def root(self) -> Path:
        """The folder of the transcripts; override it where they must be made first."""
        return self.transcripts

    @pytest.fixture
    def files(self, record: Host, root: Path) -> list[Found]:
        """All transcripts below the root."""
        found = [file for form in record.transcripts for file in find(str(root), form)]
        assert found, f"no transcript fits a pattern of {record.name} below {root}"
        return found

    @pytest.fixture
    def samples(self, files: list[Found]) -> Iterator[list[tuple[Found, list[dict[str, Any]]]]]:
        """Each transcript with its records."""
        with tempfile.TemporaryDirectory() as work:
            yield [(file, [dict(r) for r in records_of(file, Path(work))]) for file in files]

    def test_a_whole_turn_is_told(self, samples: Any, record: Host) -> None:
        events = [event for sample in samples for event in told(*sample)]
        assert {event.kind for event in events} >= self.kinds
        assert all(event.host == record.name for event in events)
        assert all(event.session_id and event.at_ms and event.cwd for event in events)
        assert all(event.host_event == FROM for event in events)
        assert any(e.answer for e in events if e.kind is EventKind.TURN_ENDED)

    def test_each_event_has_an_id_of_its_own(self, samples: Any) -> None:
        for sample in samples:
            events = told(*sample)
            prompts = [e.prompt_id for e in events if e.kind is EventKind.PROMPT_SENT]
            tools = [e.tool.id for e in events if e.tool]
            assert all(prompts)
            assert all(tools)
            assert len({*prompts}) == len(prompts)
            assert len({*tools}) == len(tools)

    def test_reading_again_tells_the_same(self, samples: Any) -> None:
        for sample in samples:
            events = told(*sample)
            assert told(*sample) == events
            assert [event_from_json(event_to_json(event)) for event in events] == events

    def test_a_reader_goes_on_where_it_was(self, samples: Any) -> None:
        """Lines that come later add what one go over all of them would have told."""
        for found, records in samples:
            if found.form.form != "lines":
                continue
            reader = reader_of(found)
            parts: list[Event] = []
            for record in records:
                parts += reader.read(record)
                before = reader.rest()
                assert reader.rest() == before, "asking for the rest changes nothing"
            assert [*parts, *reader.rest()] == told(found, records)

    def test_odd_records_are_passed_over(self, samples: Any) -> None:
        for found, records in samples:
            reader = reader_of(found)
            for record in records:
                for odd in _odd(record):
                    events = [*reader.read(odd), *reader.rest()]
                    assert all(isinstance(event, Event) for event in events)
                reader.read(record)

    def test_unknown_fields_change_nothing(self, samples: Any) -> None:
        for found, records in samples:
            grown = [{**record, "a_field_of_tomorrow": {"x": [1]}} for record in records]
            assert told(found, grown) == told(found, records)


def _odd(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The record with one of its parts, or of the parts of those, missing or strange."""
    for name, value in record.items():
        yield {key: part for key, part in record.items() if key != name}
        for odd in ODD_VALUES[::2]:
            yield {**record, name: odd}
        if isinstance(value, dict):
            for inner in value:
                for odd in ODD_VALUES[1::2]:
                    yield {**record, name: {**value, inner: odd}}
