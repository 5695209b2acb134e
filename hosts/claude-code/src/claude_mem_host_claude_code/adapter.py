"""Reads what Claude Code's hooks send, and words the answers for it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from claude_mem_core.types import (
    AdvisorCall,
    Answer,
    Delivery,
    Event,
    EventKind,
    Output,
    hookform,
)
from claude_mem_core.types.hookform import Fields, Reader
from claude_mem_core.types.payload import Payload
from claude_mem_host_claude_code import advice, transcript

HOST = "claude-code"


class ClaudeCode:
    """The adapter. Pure: the payload in, events out."""

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """The event of a payload; none for events that say nothing to a memory.

        Raises:
            InvalidInput: the payload is not one of Claude Code's.
        """
        cwd = delivery.env.get("CLAUDE_PROJECT_DIR", "")
        return hookform.events(HOST, delivery, EVENTS, lambda p: hookform.placed(p, cwd))

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


def _prompt(payload: Payload) -> Fields:
    return hookform.typed(payload.text("prompt"))


def _tool_used(payload: Payload) -> Fields:
    output = payload.fields.get("tool_response")
    stopped = isinstance(output, dict) and output.get("interrupted") is True
    tool = hookform.tool(payload, output=output, is_interrupt=stopped)
    return {"kind": EventKind.TOOL_USED, "tool": tool}


def _subagent_ended(payload: Payload) -> Fields | None:
    """None for the one that compaction fires: it has no type and is no sub-agent."""
    return hookform.subagent_ended(payload) if payload.ident("agent_type") else None


EVENTS: dict[str, Reader] = {
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
