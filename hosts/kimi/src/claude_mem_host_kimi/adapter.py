"""Reads what Kimi Code's hooks send, and words the answers for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from claude_mem_core.types import (
    Answer,
    Delivery,
    Event,
    EventKind,
    Output,
    StartSource,
    ToolUse,
)
from claude_mem_core.types.payload import Payload, missing, read_payload
from claude_mem_host_kimi import wire

HOST = "kimi"
MEDIA = "[media prompt]"
SOURCES = {source.value: source for source in StartSource}

Fields = dict[str, Any]


class KimiCode:
    """The adapter. Pure: the payload in, events out."""

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """The event of a payload; none for events that say nothing to a memory.

        Raises:
            InvalidInput: the payload is not one of Kimi Code's.
        """
        payload = read_payload(delivery)
        name = payload.ident("hook_event_name") or delivery.event
        known = EVENTS.get(name)
        if known is None:
            return []
        session, cwd = payload.need("session_id"), payload.text("cwd") or ""
        base: Fields = {"host": HOST, "host_event": name, "session_id": session, "cwd": cwd}
        return [Event(at_ms=delivery.at_ms, **base, **known(payload, delivery))]

    def reply(self, answer: Answer) -> Output:
        """Plain text with a prompt, else nothing: whatever we print would be shown."""
        if answer.kind is not EventKind.PROMPT_SENT:
            return Output()
        return Output(stdout=answer.context)

    def final_answer(self, lines: Sequence[bytes]) -> str | None:
        """The last turn's answer in the lines of a session's journal."""
        return wire.final_answer(lines)


def _started(payload: Payload, _: Delivery) -> Fields:
    source = SOURCES.get(payload.text("source") or "", StartSource.STARTUP)
    return {"kind": EventKind.SESSION_STARTED, "source": source}


def _prompt(payload: Payload, _: Delivery) -> Fields:
    words = _words(payload.fields.get("prompt"))
    extra = {"is_steer": True} if payload.flag("is_steer") else {}
    prompt = words if words.strip() else MEDIA
    return {"kind": EventKind.PROMPT_SENT, "prompt": prompt, "extra": extra}


def _words(prompt: Any) -> str:
    """The text of a prompt: Kimi Code sends a list of parts, of which some are pictures."""
    if isinstance(prompt, str):
        return prompt
    if not isinstance(prompt, list):
        missing("prompt")
    texts = (part.get("text") for part in prompt if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def _tool(payload: Payload, **result: Any) -> ToolUse:
    given = payload.fields.get("tool_input")
    id_ = payload.ident("tool_call_id") or ""
    return ToolUse(name=payload.need("tool_name"), id=id_, input=given, **result)


def _tool_used(payload: Payload, _: Delivery) -> Fields:
    tool = _tool(payload, output=payload.fields.get("tool_output"))
    return {"kind": EventKind.TOOL_USED, "tool": tool}


def _tool_failed(payload: Payload, _: Delivery) -> Fields:
    error = payload.fields.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    tool = _tool(payload, error=message if isinstance(message, str) else "")
    return {"kind": EventKind.TOOL_FAILED, "tool": tool}


def _turn_ended(payload: Payload, delivery: Delivery) -> Fields:
    """A turn's end. A sub-agent's end looks the same, to the letter, so the time is kept:
    without it the second would count as a repetition of the first."""
    path = wire.path_of(payload.text("cwd") or "", payload.need("session_id"))
    extra = {"at_ms": delivery.at_ms}
    return {"kind": EventKind.TURN_ENDED, "transcript": path, "extra": extra}


def _turn_failed(payload: Payload, _: Delivery) -> Fields:
    parts = (payload.text("error_type"), payload.text("error_message"))
    return {"kind": EventKind.TURN_FAILED, "error": ": ".join(filter(None, parts))}


def _subagent_ended(payload: Payload, _: Delivery) -> Fields:
    name = payload.ident("agent_name")
    answer = payload.text("response")
    return {"kind": EventKind.SUBAGENT_ENDED, "agent_type": name, "answer": answer}


def _compacting(payload: Payload, _: Delivery) -> Fields:
    return {"kind": EventKind.COMPACTING, "extra": _trigger(payload)}


def _compacted(payload: Payload, _: Delivery) -> Fields:
    return {"kind": EventKind.COMPACTED, "extra": _trigger(payload)}


def _trigger(payload: Payload) -> Fields:
    trigger = payload.text("trigger")
    return {"trigger": trigger} if trigger else {}


def _ended(payload: Payload, _: Delivery) -> Fields:
    return {"kind": EventKind.SESSION_ENDED, "reason": payload.text("reason")}


EVENTS: dict[str, Callable[[Payload, Delivery], Fields]] = {
    "SessionStart": _started,
    "UserPromptSubmit": _prompt,
    "PostToolUse": _tool_used,
    "PostToolUseFailure": _tool_failed,
    "Stop": _turn_ended,
    "StopFailure": _turn_failed,
    "SubagentStop": _subagent_ended,
    "PreCompact": _compacting,
    "PostCompact": _compacted,
    "SessionEnd": _ended,
}
