"""Reads what GitHub Copilot CLI's hooks send, and words the answers for it.

Its payloads do not name the event; our client's command line does.
"""

from __future__ import annotations

import json
import re
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
    hookform,
)
from claude_mem_core.types.hookform import Fields, whole_path, words
from claude_mem_core.types.payload import Payload, read_payload
from claude_mem_host_copilot import events

HOST = "copilot"
SOURCES = {"new": StartSource.STARTUP, **hookform.SOURCES}
EXIT = re.compile(r"<shellId: [^>]* completed with exit code ([1-9]\d{0,2})>\s*$")
INJECTS = {EventKind.SESSION_STARTED, EventKind.TOOL_STARTING}


class Copilot:
    """The adapter. Pure: the payload in, events out."""

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """The event of a payload; none for events that say nothing to a memory.

        Raises:
            InvalidInput: the payload is not one of GitHub Copilot CLI's.
        """
        payload = read_payload(delivery)
        known = EVENTS.get(delivery.event)
        if known is None:
            return []
        base: Fields = {
            "host": HOST,
            "host_event": delivery.event,
            "session_id": payload.ident("parentAgentId") or payload.need("sessionId"),
            "cwd": payload.text("cwd") or "",
            "at_ms": delivery.at_ms,
            # Inside a sub-agent, which has a session id of its own.
            "agent_id": payload.ident("agentId"),
            "agent_type": payload.ident("agentType"),
        }
        fields = known(payload)
        return [] if fields is None else [Event(**{**base, **fields})]

    def reply(self, answer: Answer) -> Output:
        """JSON whose context stands at the top: it drops the form of other hosts."""
        given = answer.context if answer.kind in INJECTS else ""
        body: dict[str, Any] = {"additionalContext": given} if given else {}
        return Output(stdout=json.dumps(body))

    def final_answer(self, lines: Sequence[bytes]) -> str | None:
        """The last turn's answer in the lines of a session's event log."""
        return events.final_answer(lines)


def _started(payload: Payload) -> Fields:
    source = SOURCES.get(payload.text("source") or "", StartSource.STARTUP)
    return {"kind": EventKind.SESSION_STARTED, "source": source}


def _prompt(payload: Payload) -> Fields:
    """A user's prompt; a sub-agent's task comes so as well, and the agent wrote it."""
    fields = hookform.prompt(payload.text("prompt"))
    if payload.ident("parentAgentId"):
        return {"kind": EventKind.NOTICE, "reason": "subagent_prompt"}
    return fields


def _tool(payload: Payload, **result: Any) -> ToolUse:
    """The tool. It has no id of the use; its time tells two equal uses apart."""
    moment = payload.number("timestamp")
    name, given = payload.need("toolName"), payload.fields.get("toolArgs")
    return ToolUse(name=name, id=str(moment or ""), input=given, **result)


def _tool_starting(payload: Payload) -> Fields:
    return {"kind": EventKind.TOOL_STARTING, "tool": _tool(payload)}


def _tool_used(payload: Payload) -> Fields:
    """A tool use; a command that failed is a success here, but for its last line."""
    result = payload.fields.get("toolResult")
    fields = result if isinstance(result, dict) else {}
    text = fields.get("textResultForLlm")
    output = text if isinstance(text, str) else result
    refused = fields.get("resultType") not in (None, "success")
    if refused or (isinstance(text, str) and EXIT.search(text)):
        error = text if isinstance(text, str) else str(fields.get("resultType"))
        return {"kind": EventKind.TOOL_FAILED, "tool": _tool(payload, error=error)}
    return {"kind": EventKind.TOOL_USED, "tool": _tool(payload, output=output)}


def _tool_failed(payload: Payload) -> Fields:
    error = payload.fields.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    text = message if isinstance(message, str) else ""
    return {"kind": EventKind.TOOL_FAILED, "tool": _tool(payload, error=text)}


def _turn_ended(payload: Payload) -> Fields | None:
    """The end of a turn; a sub-agent's is told by `subagentStop`, with its answer."""
    if payload.ident("parentAgentId"):
        return None
    return {
        "kind": EventKind.TURN_ENDED,
        "transcript": whole_path(payload.path("transcriptPath")),
        "extra": {"stop_hook_active": True} if payload.flag("stop_hook_active") else {},
    }


def _subagent_ended(payload: Payload) -> Fields:
    return {
        "kind": EventKind.SUBAGENT_ENDED,
        "agent_type": payload.ident("agentType") or payload.ident("agentName"),
        "answer": words(payload, "response"),
    }


EVENTS: dict[str, Callable[[Payload], Fields | None]] = {
    "sessionStart": _started,
    "userPromptSubmitted": _prompt,
    "preToolUse": _tool_starting,
    "postToolUse": _tool_used,
    "postToolUseFailure": _tool_failed,
    "agentStop": _turn_ended,
    "subagentStop": _subagent_ended,
    "sessionEnd": hookform.ended,
}
