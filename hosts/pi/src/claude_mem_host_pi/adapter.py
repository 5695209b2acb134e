"""Reads what our extension inside oh-my-pi hands on, and words the answers for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from claude_mem_core.types import (
    Answer,
    Delivery,
    Event,
    EventKind,
    Output,
    StartSource,
    ToolUse,
    hookform,
)
from claude_mem_core.types.hookform import Fields
from claude_mem_core.types.payload import Payload, missing, read_payload

HOST = "pi"
# Its reading tool puts a place of the file before its lines, and their numbers.
PLACE = re.compile(r"\A\[[^\]\n]*#[0-9A-Fa-f]+\]\n")


class Pi:
    """The adapter. Pure: the payload in, events out."""

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """The event of a payload; none for events that say nothing to a memory.

        Raises:
            InvalidInput: the payload is not one of our extension's.
        """
        payload = read_payload(delivery)
        known = EVENTS.get(delivery.event)
        if known is None:
            return []
        base: Fields = {
            "host": HOST,
            "host_event": delivery.event,
            "session_id": payload.need("sid"),
            "cwd": payload.text("cwd") or "",
            "at_ms": delivery.at_ms,
        }
        return [Event(**{**base, **known(payload)})]

    def reply(self, answer: Answer) -> Output:
        """The context as it is; our extension makes it a message of its own."""
        given = answer.context if answer.kind is EventKind.PROMPT_SENT else ""
        return Output(stdout=given)


def _inner(payload: Payload) -> Payload:
    event = payload.fields.get("event")
    if not isinstance(event, Mapping):
        missing("event")
    return Payload(event)


def _started(payload: Payload) -> Fields:
    return {"kind": EventKind.SESSION_STARTED, "source": StartSource.STARTUP}


def _prompt(payload: Payload) -> Fields:
    return hookform.prompt(_inner(payload).text("prompt"))


def _tool(payload: Payload) -> Fields:
    event = _inner(payload)
    text = _text(event.fields.get("content"))
    name, id_ = event.need("toolName"), event.ident("toolCallId") or ""
    given = event.fields.get("input")
    if event.flag("isError"):
        tool = ToolUse(name=name, id=id_, input=given, error=text)
        return {"kind": EventKind.TOOL_FAILED, "tool": tool}
    tool = ToolUse(name=name, id=id_, input=given, output=PLACE.sub("", text))
    return {"kind": EventKind.TOOL_USED, "tool": tool}


def _turn_ended(payload: Payload) -> Fields:
    event = _inner(payload)
    last = event.fields.get("last_assistant_message")
    answer = _text(last.get("content")) if isinstance(last, Mapping) else ""
    turn = event.number("turn_id")
    return {
        "kind": EventKind.TURN_ENDED,
        "answer": answer.strip() or None,
        "extra": {} if turn is None else {"turn": turn},
    }


def _compacted(payload: Payload) -> Fields:
    return {"kind": EventKind.COMPACTED}


def _ended(payload: Payload) -> Fields:
    return {"kind": EventKind.SESSION_ENDED}


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (p.get("text") for p in parts if isinstance(p, Mapping) and p.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))


EVENTS: dict[str, Callable[[Payload], Fields]] = {
    "session_start": _started,
    "before_agent_start": _prompt,
    "tool_result": _tool,
    "session_stop": _turn_ended,
    "session_compact": _compacted,
    "session_shutdown": _ended,
}
