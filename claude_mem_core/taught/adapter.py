"""Reads what a taught program sends, and words the answers for it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from claude_mem_core.taught.spec import Spec
from claude_mem_core.types import (
    Answer,
    Delivery,
    Event,
    EventKind,
    Output,
    hookform,
    protocol_text,
)
from claude_mem_core.types.hookform import Fields
from claude_mem_core.types.payload import Payload, read_payload

# Our word for a thing, and the name under which the shared readers look for it.
NAMES = {
    "session": "session_id",
    "tool": "tool_name",
    "tool_id": "tool_use_id",
    "input": "tool_input",
    "output": "tool_response",
    "answer": "last_assistant_message",
    "agent": "agent_id",
}
PLACE = re.compile(r"-?[0-9]{1,9}")  # in a list; from its end with a minus
TEXTS = frozenset({"prompt", "answer", "error"})
IDENTS = frozenset({"session", "prompt_id", "tool_id", "agent"})


class Taught:
    """The adapter. Pure: the payload in, events out."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """The event of a payload; none for events that the file does not name.

        Raises:
            InvalidInput: the payload is no JSON object, or lacks what every event needs.
        """
        whole = read_payload(delivery)
        word = delivery.event or found_text(whole.fields, self._spec.where(None)["event"])
        event = self._spec.events.get(word)
        if event is None:
            return []
        payload = Payload(flat(whole.fields, self._spec.where(event)))
        base = hookform.base(self._spec.name, payload, delivery, word)
        fields = READ[event.kind](payload)
        return [Event(**{**base, "prompt_id": payload.ident("prompt_id"), **fields})]

    def reply(self, answer: Answer) -> Output:
        """The context where the program takes it, in the form that the file asks for."""
        event = self._spec.events.get(answer.host_event)
        given = answer.context if event is not None and event.context else ""
        form = self._spec.context
        if not form.json:
            return Output(stdout=given)
        body = json.loads(json.dumps(form.fixed))
        if given:
            laid(body, form.json.split("."), given)
        return Output(stdout=json.dumps(body))


def flat(fields: Mapping[str, Any], where: Mapping[str, str]) -> dict[str, Any]:
    """The things of a payload under the names that the shared readers know."""
    found = {}
    for name, path in where.items():
        value = lookup(fields, path)
        if name in TEXTS:
            value = plain(value)
        elif name in IDENTS and isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if value is not None:
            found[NAMES.get(name, name)] = value
    return found


def lookup(value: Any, path: str) -> Any:
    """What lies under a path of names, and of numbers for lists; None when nothing does."""
    if isinstance(value, dict) and path in value:
        return value[path]  # a name may have dots in it
    for part in path.split("."):
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and PLACE.fullmatch(part):
            place = int(part)
            value = value[place] if -len(value) <= place < len(value) else None
        else:
            return None
    return value


def found_text(fields: Mapping[str, Any], path: str) -> str:
    """A text under a path; empty when there is none."""
    value = lookup(fields, path)
    return value if isinstance(value, str) else ""


def plain(value: Any) -> Any:
    """The text of what may be a message, or a list of parts of one; else as it is."""
    if isinstance(value, list):
        texts = [plain(part) for part in value]
        return "\n".join(text for text in texts if isinstance(text, str) and text) or None
    if isinstance(value, dict):
        return plain(value.get("text", value.get("content", value.get("message"))))
    return value


def laid(body: dict[str, Any], path: Sequence[str], text: str) -> None:
    """Put a text under a path of names, and make the objects on the way to it."""
    for name in path[:-1]:
        inner = body.setdefault(name, {})
        body = inner if isinstance(inner, dict) else body
    body[path[-1]] = text


# By kind -----------------------------------------------------------------------


def _prompt(payload: Payload) -> Fields:
    fields = hookform.prompt(payload.text("prompt"))
    internal = protocol_text.kind_of(payload.text("prompt") or "")
    return {"kind": EventKind.NOTICE, "reason": internal} if internal else fields


def _tool_used(payload: Payload) -> Fields:
    """A tool use; one with an error in it failed, whatever the event is called."""
    if hookform.words(payload, "error"):
        return hookform.tool_failed(payload)
    tool = hookform.tool(payload, output=payload.fields.get("tool_response"))
    return {"kind": EventKind.TOOL_USED, "tool": tool}


def _edited(payload: Payload) -> Fields:
    return {**_tool_used(payload), "kind": EventKind.FILE_EDITED}


def _subagent_started(payload: Payload) -> Fields:
    return {"kind": EventKind.SUBAGENT_STARTED}


READ: Mapping[EventKind, Callable[[Payload], Fields]] = {
    EventKind.SESSION_STARTED: hookform.started,
    EventKind.PROMPT_SENT: _prompt,
    EventKind.TOOL_STARTING: hookform.tool_starting,
    EventKind.TOOL_USED: _tool_used,
    EventKind.TOOL_FAILED: hookform.tool_failed,
    EventKind.FILE_EDITED: _edited,
    EventKind.TURN_ENDED: hookform.turn_ended,
    EventKind.TURN_FAILED: hookform.turn_failed,
    EventKind.SUBAGENT_STARTED: _subagent_started,
    EventKind.SUBAGENT_ENDED: hookform.subagent_ended,
    EventKind.COMPACTING: hookform.compacting,
    EventKind.COMPACTED: hookform.compacted,
    EventKind.SESSION_ENDED: hookform.ended,
}
