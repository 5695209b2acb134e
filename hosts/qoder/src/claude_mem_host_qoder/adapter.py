"""Reads what Qoder's hooks send, and words the answers for it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from claude_mem_core.types import Answer, Delivery, Event, EventKind, Output, hookform
from claude_mem_core.types.hookform import Fields, Reader
from claude_mem_core.types.payload import Payload

HOST = "qoder"


class Qoder:
    """The adapter. Pure: the payload in, events out."""

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """The event of a payload; none for events that say nothing to a memory.

        Raises:
            InvalidInput: the payload is not one of Qoder's.
        """
        env = delivery.env
        cwd = env.get("QODER_PROJECT_DIR") or env.get("CLAUDE_PROJECT_DIR", "")
        return hookform.events(HOST, delivery, EVENTS, lambda p: hookform.placed(p, cwd))

    def reply(self, answer: Answer) -> Output:
        """Nothing, or JSON with the keys it is documented to know."""
        body = hookform.said(answer)
        return Output(stdout=json.dumps(body) if body else "")


def _prompt(payload: Payload) -> Fields:
    """A user's prompt; in a sub-agent it is the agent's own task."""
    fields = hookform.typed(payload.text("prompt"))
    if payload.ident("agent_id") and payload.ident("agent_type"):
        return {"kind": EventKind.NOTICE, "reason": "subagent_prompt"}
    return fields


def _tool_used(payload: Payload) -> Fields:
    tool = hookform.tool(payload, output=payload.fields.get("tool_response"))
    return {"kind": EventKind.TOOL_USED, "tool": tool}


EVENTS: dict[str, Reader] = {
    "SessionStart": hookform.started,
    "UserPromptSubmit": _prompt,
    "PostToolUse": _tool_used,
    "PostToolUseFailure": hookform.tool_failed,
    "Stop": hookform.turn_ended,
    "SubagentStop": hookform.subagent_ended,
    "PreCompact": hookform.compacting,
    "SessionEnd": hookform.ended,
}
