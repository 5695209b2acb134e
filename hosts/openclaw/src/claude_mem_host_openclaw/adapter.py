"""Reads what our plugin inside OpenClaw hands on, and words the answers for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from claude_mem_core.types import (
    Answer,
    Delivery,
    Event,
    EventKind,
    Output,
    ToolUse,
    hookform,
)
from claude_mem_core.types.hookform import Fields, words
from claude_mem_core.types.payload import Payload, missing, read_payload

HOST = "openclaw"
SUBAGENT = ":subagent:"
CALLER = "tool_call"  # other tools, MCP servers' among them, are called through it


class OpenClaw:
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
        session, key = payload.need("sessionId"), payload.ident("sessionKey") or ""
        inner = SUBAGENT in key
        base: Fields = {
            "host": HOST,
            "host_event": delivery.event,
            "session_id": session,
            "cwd": payload.text("cwd") or "",
            "at_ms": delivery.at_ms,
            "agent_id": session[:128] if inner else None,
            "agent_type": "subagent" if inner else None,
        }
        fields = known(payload)
        return [] if fields is None else [Event(**{**base, **fields})]

    def reply(self, answer: Answer) -> Output:
        """The context as it is; our plugin puts it before the prompt."""
        given = answer.context if answer.kind is EventKind.PROMPT_SENT else ""
        return Output(stdout=given)


def _prompt(payload: Payload) -> Fields:
    fields = hookform.prompt(payload.text("prompt"))
    if SUBAGENT in (payload.ident("sessionKey") or ""):
        return {"kind": EventKind.NOTICE, "reason": "subagent_prompt"}
    return fields


def _tool(payload: Payload) -> Fields | None:
    """A tool use; None for the tool through which others are called: they tell it."""
    raw = payload.fields.get("event")
    if not isinstance(raw, Mapping):
        missing("event")
    event = Payload(raw)
    name = event.need("toolName")
    if name == CALLER:
        return None
    result = event.fields.get("result")
    error = _error(event, result)
    kind = EventKind.TOOL_USED if error is None else EventKind.TOOL_FAILED
    outcome: Fields = {"output": _text(result)} if error is None else {"error": error}
    tool = ToolUse(
        name=name,
        id=event.ident("toolCallId") or "",
        input=event.fields.get("params"),
        duration_ms=event.number("durationMs"),
        **outcome,
    )
    return {"kind": kind, "tool": tool}


def _error(event: Payload, result: Any) -> str | None:
    said = event.fields.get("error")
    if isinstance(said, str) and said:
        return said
    details = result.get("details") if isinstance(result, Mapping) else None
    code = details.get("exitCode") if isinstance(details, Mapping) else None
    if isinstance(code, int) and not isinstance(code, bool) and code != 0:
        return f"{_text(result)}\nExit code {code}".strip()
    return None


def _text(result: Any) -> Any:
    """The words of a result; anything that has none is kept as it is."""
    content = result.get("content") if isinstance(result, Mapping) else None
    if not isinstance(content, list):
        return result
    texts = (part.get("text") for part in content if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def _ended(payload: Payload) -> Fields:
    """The end of a turn, or of a sub-agent."""
    answer, error = words(payload, "answer"), payload.fields.get("error")
    run = payload.ident("at")
    extra = {"run": run} if run else {}
    if SUBAGENT in (payload.ident("sessionKey") or ""):
        return {"kind": EventKind.SUBAGENT_ENDED, "answer": answer, "extra": extra}
    if payload.fields.get("success") is False:
        said = error if isinstance(error, str) else ""
        return {"kind": EventKind.TURN_FAILED, "error": said, "extra": extra}
    return {"kind": EventKind.TURN_ENDED, "answer": answer, "extra": extra}


def _compacted(payload: Payload) -> Fields:
    return {"kind": EventKind.COMPACTED}


def _session_ended(payload: Payload) -> Fields:
    return {"kind": EventKind.SESSION_ENDED, "reason": words(payload, "reason")}


EVENTS: dict[str, Callable[[Payload], Fields | None]] = {
    "before_prompt_build": _prompt,
    "after_tool_call": _tool,
    "agent_end": _ended,
    "after_compaction": _compacted,
    "session_end": _session_ended,
}
