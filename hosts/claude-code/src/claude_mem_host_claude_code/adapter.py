"""Reads what Claude Code's hooks send, and words the answers for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from claude_mem_core.types import (
    AdvisorCall,
    Answer,
    Delivery,
    Event,
    EventKind,
    Output,
    StartSource,
    ToolUse,
)
from claude_mem_core.types.payload import Payload, missing, read_payload
from claude_mem_host_claude_code import advice, protocol, transcript

HOST = "claude-code"
MEDIA = "[media prompt]"
SOURCES = {source.value: source for source in StartSource}

Fields = dict[str, Any]


class ClaudeCode:
    """The adapter. Pure: the payload in, events out."""

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """The event of a payload; none for events that say nothing to a memory.

        Raises:
            InvalidInput: the payload is not one of Claude Code's.
        """
        payload = read_payload(delivery)
        name = payload.ident("hook_event_name") or delivery.event
        known = EVENTS.get(name)
        if known is None:
            return []
        base = _base(payload, delivery, name)
        fields = known(payload)
        return [] if fields is None else [Event(**{**base, **fields})]

    def reply(self, answer: Answer) -> Output:
        """JSON that Claude Code takes; unknown words in it would be ignored silently."""
        body: Fields = {"continue": True, "suppressOutput": True}
        if answer.notice:
            body["systemMessage"] = answer.notice
        event = answer.host_event
        if answer.kind is not None and (answer.context or event == "SessionStart"):
            body["hookSpecificOutput"] = {
                "hookEventName": event,
                "additionalContext": answer.context,
            }
        return Output(stdout=json.dumps(body))

    def final_answer(self, lines: Sequence[bytes]) -> str | None:
        """The last turn's answer in the lines of a transcript."""
        return transcript.final_answer(lines)

    def advisor_calls(self, lines: Sequence[bytes]) -> Sequence[AdvisorCall]:
        """The advisor calls in the lines of a transcript."""
        return advice.advisor_calls(lines)


def _base(payload: Payload, delivery: Delivery, name: str) -> Fields:
    return {
        "host": HOST,
        "host_event": name,
        "session_id": payload.need("session_id"),
        "cwd": _cwd(payload, delivery),
        "at_ms": delivery.at_ms,
        "prompt_id": payload.ident("prompt_id"),
        "agent_id": payload.ident("agent_id"),
        "agent_type": payload.ident("agent_type"),
        "transcript": _absolute(payload.path("transcript_path")),
    }


def _cwd(payload: Payload, delivery: Delivery) -> str:
    if "cwd" not in payload.fields:
        return delivery.env.get("CLAUDE_PROJECT_DIR", "")
    return payload.text("cwd") or ""


def _absolute(path: str | None) -> str | None:
    """Only whole paths: a relative one would be looked for below our own folders."""
    if path and (path[0] == "/" or path[1:3] in {":\\", ":/"}):
        return path
    return None


def _started(payload: Payload) -> Fields:
    source = SOURCES.get(payload.text("source") or "", StartSource.STARTUP)
    return {"kind": EventKind.SESSION_STARTED, "source": source}


def _prompt(payload: Payload) -> Fields:
    prompt = payload.text("prompt")
    if prompt is None:
        missing("prompt")
    internal = protocol.kind_of(prompt)
    if internal:
        return {"kind": EventKind.NOTICE, "reason": internal}
    return {"kind": EventKind.PROMPT_SENT, "prompt": prompt if prompt.strip() else MEDIA}


def _tool(payload: Payload, **result: Any) -> ToolUse:
    return ToolUse(
        name=payload.need("tool_name"),
        id=payload.ident("tool_use_id") or "",
        input=payload.fields.get("tool_input"),
        duration_ms=payload.number("duration_ms"),
        **result,
    )


def _tool_starting(payload: Payload) -> Fields:
    return {"kind": EventKind.TOOL_STARTING, "tool": _tool(payload)}


def _tool_used(payload: Payload) -> Fields:
    output = payload.fields.get("tool_response")
    stopped = isinstance(output, dict) and output.get("interrupted") is True
    tool = _tool(payload, output=output, is_interrupt=stopped)
    return {"kind": EventKind.TOOL_USED, "tool": tool}


def _tool_failed(payload: Payload) -> Fields:
    error = payload.text("error") or ""
    tool = _tool(payload, error=error, is_interrupt=payload.flag("is_interrupt"))
    return {"kind": EventKind.TOOL_FAILED, "tool": tool}


def _turn_ended(payload: Payload) -> Fields:
    again = payload.flag("stop_hook_active")
    return {
        "kind": EventKind.TURN_ENDED,
        "answer": _words(payload, "last_assistant_message"),
        "extra": {"stop_hook_active": True} if again else {},
    }


def _turn_failed(payload: Payload) -> Fields:
    parts = (_words(payload, "error"), _words(payload, "last_assistant_message"))
    return {"kind": EventKind.TURN_FAILED, "error": ": ".join(filter(None, parts))}


def _subagent_ended(payload: Payload) -> Fields | None:
    """None for the one that compaction fires: it has no type and is no sub-agent."""
    if not payload.ident("agent_type"):
        return None
    return {
        "kind": EventKind.SUBAGENT_ENDED,
        "answer": _words(payload, "last_assistant_message"),
        "transcript": _absolute(payload.path("agent_transcript_path")),
    }


def _compacting(payload: Payload) -> Fields:
    extra = {name: _words(payload, name) for name in ("trigger", "custom_instructions")}
    return {
        "kind": EventKind.COMPACTING,
        "extra": {name: text for name, text in extra.items() if text},
    }


def _compacted(payload: Payload) -> Fields:
    trigger = _words(payload, "trigger")
    return {
        "kind": EventKind.COMPACTED,
        "answer": _words(payload, "compact_summary"),
        "extra": {"trigger": trigger} if trigger else {},
    }


def _ended(payload: Payload) -> Fields:
    return {"kind": EventKind.SESSION_ENDED, "reason": _words(payload, "reason")}


def _words(payload: Payload, name: str) -> str | None:
    """A text with something in it, else None."""
    text = payload.text(name)
    return text if text and text.strip() else None


EVENTS: dict[str, Callable[[Payload], Fields | None]] = {
    "SessionStart": _started,
    "UserPromptSubmit": _prompt,
    "PreToolUse": _tool_starting,
    "PostToolUse": _tool_used,
    "PostToolUseFailure": _tool_failed,
    "Stop": _turn_ended,
    "StopFailure": _turn_failed,
    "SubagentStop": _subagent_ended,
    "PreCompact": _compacting,
    "PostCompact": _compacted,
    "SessionEnd": _ended,
}
