"""Reads what our plugin inside OpenCode hands on, and words the answers for it."""

from __future__ import annotations

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
from claude_mem_core.types.hookform import Fields, words
from claude_mem_core.types.payload import Payload, missing, read_payload

HOST = "opencode"


class OpenCode:
    """The adapter. Pure: the payload in, events out."""

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """The event of a payload; none for events that say nothing to a memory.

        Raises:
            InvalidInput: the payload is not one of our plugin's.
        """
        payload = read_payload(delivery)
        known = EVENTS.get(delivery.event)
        if known is None:
            return []
        session, parent = payload.need("sessionID"), payload.ident("parentID")
        base: Fields = {
            "host": HOST,
            "host_event": delivery.event,
            "session_id": parent or session,
            "cwd": payload.text("cwd") or "",
            "at_ms": delivery.at_ms,
            # A sub-agent works in a session of its own.
            "agent_id": session if parent else None,
            "agent_type": (payload.ident("agent") or "agent") if parent else None,
        }
        return [Event(**{**base, **known(payload)})]

    def reply(self, answer: Answer) -> Output:
        """The context as it is; our plugin puts it before the prompt."""
        given = answer.context if answer.kind is EventKind.PROMPT_SENT else ""
        return Output(stdout=given)


def _started(payload: Payload) -> Fields:
    if payload.ident("parentID"):
        return {"kind": EventKind.SUBAGENT_STARTED}
    return {"kind": EventKind.SESSION_STARTED, "source": StartSource.STARTUP}


def _prompt(payload: Payload) -> Fields:
    """A user's prompt: a list of parts, of which some are files, and some not the user's."""
    output = _object(payload.fields.get("output"), "output")
    parts = output.get("parts")
    if not isinstance(parts, list):
        missing("output.parts")
    texts = (part.get("text") for part in parts if _typed(part))
    text = "\n".join(text for text in texts if isinstance(text, str))
    if payload.ident("parentID"):
        return {"kind": EventKind.NOTICE, "reason": "subagent_prompt"}
    message = output.get("message")
    number = message.get("id") if isinstance(message, Mapping) else None
    known = number if isinstance(number, str) and 0 < len(number) <= 128 else None
    return {**hookform.prompt(text), "extra": {"message": known} if known else {}}


def _typed(part: object) -> bool:
    return (
        isinstance(part, Mapping) and part.get("type") == "text" and not part.get("synthetic")
    )


def _tool_used(payload: Payload) -> Fields:
    """A tool use. Built-in tools answer with text and details, others with their content."""
    given = Payload(_object(payload.fields.get("input"), "input"))
    output = payload.fields.get("output")
    result = output if isinstance(output, Mapping) else {}
    text = result.get("output", result.get("content", output))
    details = result.get("metadata")
    code = details.get("exit") if isinstance(details, Mapping) else None
    name, id_ = given.need("tool"), given.ident("callID") or ""
    failed = isinstance(code, int) and not isinstance(code, bool) and code != 0
    if failed:
        said = f"{text if isinstance(text, str) else ''}\nExit code {code}".strip()
        tool = ToolUse(name=name, id=id_, input=given.fields.get("args"), error=said)
        return {"kind": EventKind.TOOL_FAILED, "tool": tool}
    tool = ToolUse(name=name, id=id_, input=given.fields.get("args"), output=text)
    return {"kind": EventKind.TOOL_USED, "tool": tool}


def _tool_failed(payload: Payload) -> Fields:
    part = Payload(_object(payload.fields.get("part"), "part"))
    state = _object(part.fields.get("state"), "part.state")
    error = state.get("error")
    tool = ToolUse(
        name=part.need("tool"),
        id=part.ident("callID") or "",
        input=state.get("input"),
        error=error if isinstance(error, str) else "",
    )
    return {"kind": EventKind.TOOL_FAILED, "tool": tool}


def _idle(payload: Payload) -> Fields:
    """The end of a turn, or of a sub-agent."""
    answer = words(payload, "answer")
    if payload.ident("parentID"):
        return {"kind": EventKind.SUBAGENT_ENDED, "answer": answer}
    return {"kind": EventKind.TURN_ENDED, "answer": answer}


def _turn_failed(payload: Payload) -> Fields:
    error = payload.fields.get("error")
    fields = error if isinstance(error, Mapping) else {}
    data = fields.get("data")
    message = data.get("message") if isinstance(data, Mapping) else None
    parts = (fields.get("name"), message)
    return {
        "kind": EventKind.TURN_FAILED,
        "error": ": ".join(part for part in parts if isinstance(part, str) and part),
    }


def _compacted(payload: Payload) -> Fields:
    return {"kind": EventKind.COMPACTED}


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        missing(name)
    return value


EVENTS: dict[str, Callable[[Payload], Fields]] = {
    "session.created": _started,
    "chat.message": _prompt,
    "tool.execute.after": _tool_used,
    "tool.error": _tool_failed,
    "session.idle": _idle,
    "session.error": _turn_failed,
    "session.compacted": _compacted,
}
