"""Payloads of the form that Claude Code began and other hosts took over, as fields.

Each function reads one sort of payload and returns what an `Event` is made of. A host
uses those that fit it; where it differs, it has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from claude_mem_core.types import protocol_text
from claude_mem_core.types.events import (
    Answer,
    Delivery,
    Event,
    EventKind,
    StartSource,
    ToolUse,
)
from claude_mem_core.types.payload import Payload, missing, read_payload

Fields = dict[str, Any]
Reader = Callable[[Payload], Fields | None]

MEDIA = "[media prompt]"
# Of a prompt whose words stand in the host's transcript alone; see `ReadsPrompts`.
UNTOLD = "[prompt in the transcript]"
SOURCES = {source.value: source for source in StartSource}


def events(
    host: str,
    delivery: Delivery,
    readers: Mapping[str, Reader],
    more: Callable[[Payload], Fields] | None = None,
) -> list[Event]:
    """The event of a payload; none for events that say nothing to a memory.

    Args:
        readers: what reads a payload, by the host's name of the event; it may say None.
        more: further fields that every event has.

    Raises:
        InvalidInput: the payload is not one of this host's.
    """
    payload = read_payload(delivery)
    name = payload.ident("hook_event_name") or delivery.event
    read = readers.get(name)
    if read is None:
        return []
    common = {**base(host, payload, delivery, name), **(more(payload) if more else {})}
    fields = read(payload)
    return [] if fields is None else [Event(**{**common, **fields})]


def said(answer: Answer) -> Fields:
    """What is to be said, as JSON: a notice, and context at a session's start."""
    body: Fields = {}
    if answer.notice:
        body["systemMessage"] = answer.notice
    if answer.context and answer.kind is EventKind.SESSION_STARTED:
        body["hookSpecificOutput"] = {
            "hookEventName": answer.host_event,
            "additionalContext": answer.context,
        }
    return body


def base(host: str, payload: Payload, delivery: Delivery, name: str) -> Fields:
    """What every event has.

    Raises:
        InvalidInput: there is no session id, or `cwd` is no text.
    """
    return {
        "host": host,
        "host_event": name,
        "session_id": payload.need("session_id"),
        "cwd": payload.text("cwd") or "",
        "at_ms": delivery.at_ms,
        "agent_id": payload.ident("agent_id"),
        "agent_type": payload.ident("agent_type"),
        "transcript": whole_path(payload.path("transcript_path")),
    }


def place(payload: Payload, otherwise: str) -> Fields:
    """The directory that the host's environment names, where the payload names none."""
    return {} if "cwd" in payload.fields else {"cwd": otherwise}


def turn_id(payload: Payload) -> Fields:
    """The host's id of the turn."""
    return {"prompt_id": payload.ident("prompt_id")}


def placed(payload: Payload, otherwise: str) -> Fields:
    """Both."""
    return {**place(payload, otherwise), **turn_id(payload)}


def whole_path(path: str | None) -> str | None:
    """Only whole paths: a relative one would be looked for below our own folders."""
    if path and (path[0] == "/" or path[1:3] in {":\\", ":/"}):
        return path
    return None


def words(payload: Payload, name: str) -> str | None:
    """A text with something in it, else None."""
    text = payload.text(name)
    return text if text and text.strip() else None


def started(payload: Payload) -> Fields:
    """A session's start; words that we don't know count as a new one."""
    source = SOURCES.get(payload.text("source") or "", StartSource.STARTUP)
    return {"kind": EventKind.SESSION_STARTED, "source": source}


def prompt(text: str | None) -> Fields:
    """A user's prompt; one without words is a picture or a file.

    Raises:
        InvalidInput: there is none.
    """
    if text is None:
        missing("prompt")
    return {"kind": EventKind.PROMPT_SENT, "prompt": text if text.strip() else MEDIA}


def typed(text: str | None) -> Fields:
    """The same, or a notice where the host wrote the words and nobody typed them."""
    fields = prompt(text)
    internal = protocol_text.kind_of(text or "")
    return {"kind": EventKind.NOTICE, "reason": internal} if internal else fields


def tool(payload: Payload, **result: Any) -> ToolUse:
    """The tool of a payload, with its result.

    Raises:
        InvalidInput: it has no name.
    """
    return ToolUse(
        name=payload.need("tool_name"),
        id=payload.ident("tool_use_id") or "",
        input=payload.fields.get("tool_input"),
        duration_ms=payload.number("duration_ms"),
        **result,
    )


def tool_starting(payload: Payload) -> Fields:
    """A tool that is about to be used."""
    return {"kind": EventKind.TOOL_STARTING, "tool": tool(payload)}


def tool_failed(payload: Payload) -> Fields:
    """A tool use that failed, with the host's text on it."""
    error = payload.text("error") or ""
    failed = tool(payload, error=error, is_interrupt=payload.flag("is_interrupt"))
    return {"kind": EventKind.TOOL_FAILED, "tool": failed}


def turn_ended(payload: Payload) -> Fields:
    """The end of a turn, with the agent's last words where the host gives them."""
    again = payload.flag("stop_hook_active")
    return {
        "kind": EventKind.TURN_ENDED,
        "answer": words(payload, "last_assistant_message"),
        "extra": {"stop_hook_active": True} if again else {},
    }


def turn_failed(payload: Payload) -> Fields:
    """A turn that ended in an error of the host or the model."""
    parts = (words(payload, "error"), words(payload, "last_assistant_message"))
    return {"kind": EventKind.TURN_FAILED, "error": ": ".join(filter(None, parts))}


def subagent_ended(payload: Payload) -> Fields:
    """What a sub-agent reports at its end."""
    return {
        "kind": EventKind.SUBAGENT_ENDED,
        "answer": words(payload, "last_assistant_message"),
        "transcript": whole_path(payload.path("agent_transcript_path")),
    }


def compacting(payload: Payload) -> Fields:
    """The conversation is about to be shortened."""
    extra = {name: words(payload, name) for name in ("trigger", "custom_instructions")}
    return {
        "kind": EventKind.COMPACTING,
        "extra": {name: text for name, text in extra.items() if text},
    }


def compacted(payload: Payload) -> Fields:
    """It was shortened; the summary where the host gives it."""
    trigger = words(payload, "trigger")
    return {
        "kind": EventKind.COMPACTED,
        "answer": words(payload, "compact_summary"),
        "extra": {"trigger": trigger} if trigger else {},
    }


def ended(payload: Payload) -> Fields:
    """A session's end."""
    return {"kind": EventKind.SESSION_ENDED, "reason": words(payload, "reason")}
