"""Reads what Qwen Code's hooks send, and words the answers for it."""

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
    hookform,
    protocol_text,
)
from claude_mem_core.types.hookform import Fields
from claude_mem_core.types.payload import Payload, read_payload

HOST = "qwen"
EXIT = re.compile(r"^Exit Code: *([1-9]\d{0,2}) *$", re.MULTILINE)


class Qwen:
    """The adapter. Pure: the payload in, events out."""

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """The event of a payload; none for events that say nothing to a memory.

        Raises:
            InvalidInput: the payload is not one of Qwen Code's.
        """
        payload = read_payload(delivery)
        name = payload.ident("hook_event_name") or delivery.event
        known = EVENTS.get(name)
        if known is None:
            return []
        base = hookform.base(HOST, payload, delivery, name)
        base["prompt_id"] = payload.ident("prompt_id")
        fields = known(payload)
        return [] if fields is None else [Event(**{**base, **fields})]

    def reply(self, answer: Answer) -> Output:
        """JSON only: any other words at a session's start would reach the model."""
        body: dict[str, Any] = {}
        if answer.notice:
            body["systemMessage"] = answer.notice
        if answer.context and answer.kind is EventKind.SESSION_STARTED:
            body["hookSpecificOutput"] = {
                "hookEventName": answer.host_event,
                "additionalContext": answer.context,
            }
        return Output(stdout=json.dumps(body))


def _prompt(payload: Payload) -> Fields | None:
    """A prompt that somebody submitted.

    The hook also comes before every later request of the turn, with nothing submitted.
    """
    submitted = payload.text("submitted_prompt")
    if submitted is None and not (payload.text("prompt") or "").strip():
        return None
    fields = hookform.prompt(submitted if submitted is not None else payload.text("prompt"))
    internal = protocol_text.kind_of(fields["prompt"])
    return {"kind": EventKind.NOTICE, "reason": internal} if internal else fields


def _tool_used(payload: Payload) -> Fields:
    """A tool use; a command that failed may say so in its text alone."""
    output = payload.fields.get("tool_response")
    text = output.get("llmContent") if isinstance(output, dict) else None
    if isinstance(text, str) and EXIT.search(text):
        return {"kind": EventKind.TOOL_FAILED, "tool": hookform.tool(payload, error=text)}
    return {"kind": EventKind.TOOL_USED, "tool": hookform.tool(payload, output=output)}


EVENTS: dict[str, Callable[[Payload], Fields | None]] = {
    "SessionStart": hookform.started,
    "UserPromptSubmit": _prompt,
    "PostToolUse": _tool_used,
    "PostToolUseFailure": hookform.tool_failed,
    "Stop": hookform.turn_ended,
    "StopFailure": hookform.turn_failed,
    "SubagentStop": hookform.subagent_ended,
    "PreCompact": hookform.compacting,
    "PostCompact": hookform.compacted,
    "SessionEnd": hookform.ended,
}
