"""Reads what Claude Code's hooks send, and words the answers for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from claude_mem_core.types import (
    AdvisorCall,
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
from claude_mem_host_claude_code import advice, transcript

HOST = "claude-code"


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
    fields = hookform.base(HOST, payload, delivery, name)
    if "cwd" not in payload.fields:
        fields["cwd"] = delivery.env.get("CLAUDE_PROJECT_DIR", "")
    return {**fields, "prompt_id": payload.ident("prompt_id")}


def _prompt(payload: Payload) -> Fields:
    fields = hookform.prompt(payload.text("prompt"))
    internal = protocol_text.kind_of(payload.text("prompt") or "")
    return {"kind": EventKind.NOTICE, "reason": internal} if internal else fields


def _tool_used(payload: Payload) -> Fields:
    output = payload.fields.get("tool_response")
    stopped = isinstance(output, dict) and output.get("interrupted") is True
    tool = hookform.tool(payload, output=output, is_interrupt=stopped)
    return {"kind": EventKind.TOOL_USED, "tool": tool}


def _subagent_ended(payload: Payload) -> Fields | None:
    """None for the one that compaction fires: it has no type and is no sub-agent."""
    return hookform.subagent_ended(payload) if payload.ident("agent_type") else None


EVENTS: dict[str, Callable[[Payload], Fields | None]] = {
    "SessionStart": hookform.started,
    "UserPromptSubmit": _prompt,
    "PreToolUse": hookform.tool_starting,
    "PostToolUse": _tool_used,
    "PostToolUseFailure": hookform.tool_failed,
    "Stop": hookform.turn_ended,
    "StopFailure": hookform.turn_failed,
    "SubagentStop": _subagent_ended,
    "PreCompact": hookform.compacting,
    "PostCompact": hookform.compacted,
    "SessionEnd": hookform.ended,
}
