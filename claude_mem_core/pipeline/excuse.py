"""What a person is told at a session's start while nothing can be stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from claude_mem_core.errors import StoreError
from claude_mem_core.pipeline.adapters import OpenHost
from claude_mem_core.plugins.calls import call_sync
from claude_mem_core.types import Answer, Delivery, Event, EventKind, Output


class NotStored(StoreError):
    """A delivery could not be stored and has to wait.

    Attributes:
        told: what the host may say meanwhile; nothing but at a session's start.
    """

    def __init__(self, text: str, told: Output) -> None:
        super().__init__(text)
        self.told = told


def notice_of(text: str) -> str:
    """A fault as the one line at a session's start."""
    return f"memory: {text}"


def excuse(host: OpenHost, events: Sequence[Event], text: str) -> Output:
    """How the host words the fault; nothing when no session starts."""
    for event in events:
        if event.kind is EventKind.SESSION_STARTED:
            return worded(host, event.host_event, text)
    return Output()


def worded(host: OpenHost, host_event: str, text: str) -> Output:
    """The fault as the reply to a session's start."""
    answer = Answer(
        kind=EventKind.SESSION_STARTED, host_event=host_event, notice=notice_of(text)
    )
    outcome = call_sync(host.record.name, host.adapter.reply, answer)
    return outcome.value if isinstance(outcome.value, Output) else Output()


def starting_events(host: OpenHost) -> Iterable[str]:
    """The host's own names of the event that a session begins with."""
    for name in host.record.hooks:
        stdin = b'{"session_id": "none", "hook_event_name": "%s"}' % name.encode()
        delivery = Delivery(host=host.record.name, event=name, stdin=stdin)
        events = call_sync(host.record.name, host.adapter.parse, delivery).value or ()
        if any(event.kind is EventKind.SESSION_STARTED for event in events):
            yield name
