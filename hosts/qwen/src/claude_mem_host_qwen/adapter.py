"""Reads what Qwen Code's hooks send, and words the answers for it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from claude_mem_core.types import (
    Answer,
    Delivery,
    Event,
    EventKind,
    Output,
    hookform,
)
from claude_mem_core.types.hookform import Fields, Reader
from claude_mem_core.types.payload import Payload

HOST = "qwen"
EXIT = re.compile(r"^Exit Code: *([1-9]\d{0,2}) *$", re.MULTILINE)


class Qwen:
    """The adapter. Pure: the payload in, events out."""

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """The event of a payload; none for events that say nothing to a memory.

        Raises:
            InvalidInput: the payload is not one of Qwen Code's.
        """
        return hookform.events(HOST, delivery, EVENTS, hookform.turn_id)

    def reply(self, answer: Answer) -> Output:
        """JSON only: any other words at a session's start would reach the model."""
        return Output(stdout=json.dumps(hookform.said(answer)))


def _prompt(payload: Payload) -> Fields | None:
    """A prompt that somebody submitted.

    The hook also comes before every later request of the turn, with nothing submitted.
    """
    submitted = payload.text("submitted_prompt")
    if submitted is None and not (payload.text("prompt") or "").strip():
        return None
    return hookform.typed(submitted if submitted is not None else payload.text("prompt"))


def _tool_used(payload: Payload) -> Fields:
    """A tool use; a command that failed may say so in its text alone."""
    output = payload.fields.get("tool_response")
    text = output.get("llmContent") if isinstance(output, dict) else None
    if isinstance(text, str) and EXIT.search(text):
        return {"kind": EventKind.TOOL_FAILED, "tool": hookform.tool(payload, error=text)}
    return {"kind": EventKind.TOOL_USED, "tool": hookform.tool(payload, output=output)}


EVENTS: dict[str, Reader] = {
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
