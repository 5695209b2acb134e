"""Reads what Antigravity CLI's hooks send, and words the answers for it.

Its payloads name neither the event (our client's command line does) nor the prompt: that
stands in the transcript, and is looked for with every event until it is there.
"""

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
    StartSource,
    ToolUse,
    hookform,
)
from claude_mem_core.types.hookform import Fields, whole_path, words
from claude_mem_core.types.payload import PATH, Payload, read_payload
from claude_mem_host_antigravity import transcript

HOST = "antigravity"
# Steps of a conversation that has not begun: its first prompt may be one, or two.
UNBEGUN = 2
Parts = list[Fields]


class Antigravity:
    """The adapter. Pure: the payload in, events out."""

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """The events of a payload; none for events that say nothing to a memory.

        Raises:
            InvalidInput: the payload is not one of Antigravity CLI's.
        """
        payload = read_payload(delivery)
        read = EVENTS.get(delivery.event)
        if read is None:
            return []
        base: Fields = {
            "host": HOST,
            "host_event": delivery.event,
            "session_id": payload.need("conversationId"),
            "cwd": _folder(payload) or delivery.env.get("GEMINI_PROJECT_DIR", ""),
            "at_ms": delivery.at_ms,
            "transcript": whole_path(payload.path("transcriptPath")),
        }
        return [Event(**{**base, **fields}) for fields in read(payload)]

    def reply(self, answer: Answer) -> Output:
        """Only what it knows: one key more, and it drops all. A tool is always let through."""
        body: dict[str, Any] = {}
        if answer.host_event == "PreToolUse":
            body["decision"] = "allow"
        elif answer.host_event == "PreInvocation" and answer.context:
            body["injectSteps"] = [{"ephemeralMessage": answer.context}]
        return Output(stdout=json.dumps(body))

    def final_answer(self, lines: Sequence[bytes]) -> str | None:
        """The last turn's answer in the lines of a transcript."""
        return transcript.final_answer(lines)

    def last_prompt(self, lines: Sequence[bytes]) -> tuple[str, str] | None:
        """The newest prompt in the lines of a transcript."""
        return transcript.last_prompt(lines)


def _folder(payload: Payload) -> str:
    """The first folder of the workspace."""
    given = payload.fields.get("workspacePaths")
    named = given if isinstance(given, list) else [given]
    good = (p for p in named if isinstance(p, str) and 0 < len(p) <= PATH and "\0" not in p)
    return next(good, "")


def _prompt(payload: Payload) -> Parts:
    """The prompt that this may be the first to follow."""
    return [{"kind": EventKind.PROMPT_SENT, "prompt": hookform.UNTOLD}]


def _before_model(payload: Payload) -> Parts:
    """A request to the model; the first of a conversation is the session's start."""
    first = payload.number("invocationNum") == 0
    begins = first and (payload.number("initialNumSteps") or 0) <= UNBEGUN
    start = {"kind": EventKind.SESSION_STARTED, "source": StartSource.STARTUP}
    return [*([start] if begins else []), *_prompt(payload)]


def _tool(payload: Payload, **result: Any) -> ToolUse | None:
    """The tool of a step; None where the payload does not name it."""
    call = payload.fields.get("toolCall")
    inner = Payload(call if isinstance(call, dict) else {})
    step = payload.number("stepIdx")
    name = inner.ident("name")
    if name is None:
        return None
    id_ = "" if step is None else f"step-{step}"
    return ToolUse(name=name, id=id_, input=inner.fields.get("args"), **result)


def _before_tool(payload: Payload) -> Parts:
    """A tool that is about to be used: what comes after it may not even name it."""
    tool = _tool(payload)
    used: Parts = [{"kind": EventKind.TOOL_USED, "tool": tool}] if tool else []
    return [*_prompt(payload), *used]


def _after_tool(payload: Payload) -> Parts:
    """A tool that was used; it is told by then, so only a failure is news."""
    error = words(payload, "error")
    if error is None:
        return []
    step = payload.number("stepIdx")
    unnamed = ToolUse(name="tool", id="" if step is None else f"step-{step}", error=error)
    return [{"kind": EventKind.TOOL_FAILED, "tool": _tool(payload, error=error) or unnamed}]


def _stopped(payload: Payload) -> Parts:
    if payload.ident("terminationReason") == "error":
        error = words(payload, "error") or "the turn ended in an error"
        return [*_prompt(payload), {"kind": EventKind.TURN_FAILED, "error": error}]
    return [*_prompt(payload), {"kind": EventKind.TURN_ENDED}]


EVENTS: dict[str, Callable[[Payload], Parts]] = {
    "PreInvocation": _before_model,
    "PreToolUse": _before_tool,
    "PostToolUse": _after_tool,
    "PostInvocation": _prompt,
    "Stop": _stopped,
}
