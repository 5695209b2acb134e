"""Reads what Codex CLI's hooks send, and words the answers for it."""

from __future__ import annotations

import json
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

HOST = "codex"


class Codex:
    """The adapter. Pure: the payload in, events out."""

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """The event of a payload; none for events that say nothing to a memory.

        Raises:
            InvalidInput: the payload is not one of Codex CLI's.
        """
        return hookform.events(HOST, delivery, EVENTS)

    def reply(self, answer: Answer) -> Output:
        """Nothing, or JSON with the keys it knows: one more, and it drops all of it."""
        body = hookform.said(answer)
        return Output(stdout=json.dumps(body) if body else "")


def _prompt(payload: Payload) -> Fields:
    """A user's prompt; its turn's id is no id of it, for several can come in one turn."""
    fields = hookform.typed(payload.text("prompt"))
    if payload.ident("agent_id"):
        # A sub-agent's task comes as a prompt of its own; the agent wrote it.
        return {"kind": EventKind.NOTICE, "reason": "subagent_prompt"}
    return fields


def _tool_used(payload: Payload) -> Fields:
    """A tool use; commands that failed come so as well, with their output alone."""
    tool = hookform.tool(payload, output=payload.fields.get("tool_response"))
    return {"kind": EventKind.TOOL_USED, "tool": tool}


EVENTS: dict[str, Reader] = {
    "SessionStart": hookform.started,
    "UserPromptSubmit": _prompt,
    "PostToolUse": _tool_used,
    "Stop": hookform.turn_ended,
    "SubagentStop": hookform.subagent_ended,
    "PreCompact": hookform.compacting,
    "PostCompact": hookform.compacted,
    "SessionEnd": hookform.ended,
}
