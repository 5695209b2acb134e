"""Reads what {{title}}'s hooks send, and words the answers for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from claude_mem_core.types import Answer, Delivery, Event, EventKind, Output, ToolUse
from claude_mem_core.types.payload import Payload, missing, read_payload

HOST = "{{name}}"


class {{class}}:
    """The adapter. Pure: the payload in, events out."""

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """The event of a payload; none for events that say nothing to a memory.

        Raises:
            InvalidInput: the payload is not one of {{title}}'s.
        """
        payload = read_payload(delivery)
        name = payload.ident("event") or delivery.event
        known = EVENTS.get(name)
        if known is None:
            return []
        base = {
            "host": HOST,
            "host_event": name,
            "session_id": payload.need("session_id"),
            "cwd": payload.path("cwd") or "",
            "at_ms": delivery.at_ms,
        }
        return [Event(**base, **known(payload))]

    def reply(self, answer: Answer) -> Output:
        """One JSON object; an empty answer is an empty object."""
        body = {"context": answer.context, "notice": answer.notice}
        return Output(stdout=json.dumps({key: text for key, text in body.items() if text}))


def _started(payload: Payload) -> dict[str, Any]:
    return {"kind": EventKind.SESSION_STARTED}


def _prompt(payload: Payload) -> dict[str, Any]:
    prompt = payload.text("prompt") or missing("prompt")
    return {"kind": EventKind.PROMPT_SENT, "prompt": prompt}


def _tool(payload: Payload) -> dict[str, Any]:
    fields = payload.fields
    error = payload.text("error")
    tool = ToolUse(
        name=payload.need("tool"),
        id=payload.ident("tool_id") or "",
        input=fields.get("input"),
        output=fields.get("output"),
        error=error,
    )
    return {"kind": EventKind.TOOL_FAILED if error else EventKind.TOOL_USED, "tool": tool}


def _ended(payload: Payload) -> dict[str, Any]:
    return {"kind": EventKind.TURN_ENDED, "answer": payload.text("answer")}


EVENTS: dict[str, Callable[[Payload], dict[str, Any]]] = {
    "session_start": _started,
    "prompt": _prompt,
    "tool": _tool,
    "turn_end": _ended,
}
