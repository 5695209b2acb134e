"""Reads what Codex CLI's hooks send, and words the answers for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

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

HOST = "codex"


class Codex:
    """The adapter. Pure: the payload in, events out."""

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """The event of a payload; none for events that say nothing to a memory.

        Raises:
            InvalidInput: the payload is not one of Codex CLI's.
        """
        payload = read_payload(delivery)
        name = payload.ident("hook_event_name") or delivery.event
        known = EVENTS.get(name)
        if known is None:
            return []
        base = hookform.base(HOST, payload, delivery, name)
        return [Event(**{**base, **known(payload)})]

    def reply(self, answer: Answer) -> Output:
        """Nothing, or JSON with the keys it knows: one more, and it drops all of it."""
        body: dict[str, Any] = {}
        if answer.notice:
            body["systemMessage"] = answer.notice
        if answer.context and answer.kind is EventKind.SESSION_STARTED:
            body["hookSpecificOutput"] = {
                "hookEventName": answer.host_event,
                "additionalContext": answer.context,
            }
        return Output(stdout=json.dumps(body) if body else "")


def _prompt(payload: Payload) -> Fields:
    """A user's prompt; its turn's id is no id of it, for several can come in one turn."""
    text = payload.text("prompt")
    fields = hookform.prompt(text)
    if payload.ident("agent_id"):
        # A sub-agent's task comes as a prompt of its own; the agent wrote it.
        return {"kind": EventKind.NOTICE, "reason": "subagent_prompt"}
    internal = protocol_text.kind_of(text or "")
    return {"kind": EventKind.NOTICE, "reason": internal} if internal else fields


def _tool_used(payload: Payload) -> Fields:
    """A tool use; commands that failed come so as well, with their output alone."""
    tool = hookform.tool(payload, output=payload.fields.get("tool_response"))
    return {"kind": EventKind.TOOL_USED, "tool": tool}


EVENTS: dict[str, Callable[[Payload], Fields]] = {
    "SessionStart": hookform.started,
    "UserPromptSubmit": _prompt,
    "PostToolUse": _tool_used,
    "Stop": hookform.turn_ended,
    "SubagentStop": hookform.subagent_ended,
    "PreCompact": hookform.compacting,
    "PostCompact": hookform.compacted,
    "SessionEnd": hookform.ended,
}
