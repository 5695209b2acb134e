"""Reads what Gemini CLI's hooks send, and words the answers for it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from claude_mem_core.types import (
    Answer,
    Delivery,
    Event,
    EventKind,
    Output,
    ToolUse,
    hookform,
)
from claude_mem_core.types.hookform import Fields, Reader, words
from claude_mem_core.types.payload import Payload

HOST = "gemini"

# What hooks gave at the session's start, before the user's own words; `<` is escaped in it.
GIVEN = re.compile(r"\s*<hook_context>[^<]*</hook_context>\s*")
EXIT = re.compile(r"^(?:Exit Code|Exit code): *([1-9]\d{0,2}) *$", re.MULTILINE)


class Gemini:
    """The adapter. Pure: the payload in, events out."""

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """The event of a payload; none for events that say nothing to a memory.

        Raises:
            InvalidInput: the payload is not one of Gemini CLI's.
        """
        cwd = delivery.env.get("GEMINI_PROJECT_DIR", "")
        return hookform.events(HOST, delivery, EVENTS, lambda p: hookform.place(p, cwd))

    def reply(self, answer: Answer) -> Output:
        """JSON only: it shows any other words to the user and not to the model."""
        return Output(stdout=json.dumps(hookform.said(answer)))


def own_words(prompt: str) -> str:
    """The prompt without what hooks put before it; our own context is among that."""
    while found := GIVEN.match(prompt):
        prompt = prompt[found.end() :]
    return prompt


def _prompt(payload: Payload) -> Fields:
    text = payload.text("prompt")
    return hookform.prompt(None if text is None else own_words(text))


def _tool_used(payload: Payload) -> Fields:
    """A tool use. A failure comes in the same words as a success, but for its text."""
    output = payload.fields.get("tool_response")
    error = _error(output)
    kind = EventKind.TOOL_USED if error is None else EventKind.TOOL_FAILED
    result: Fields = {"output": output} if error is None else {"error": error}
    name, given = payload.need("tool_name"), payload.fields.get("tool_input")
    # It has no id of the use; its time tells two equal uses apart.
    moment = payload.ident("timestamp") or ""
    return {"kind": kind, "tool": ToolUse(name=name, id=moment, input=given, **result)}


def _error(output: Any) -> str | None:
    """The text of a failure; None when nothing says that it was one."""
    if not isinstance(output, dict):
        return None
    failed = output.get("error")
    text = _text(output.get("llmContent"))
    if failed:
        return _text(failed.get("message") if isinstance(failed, dict) else failed) or text
    return text if EXIT.search(text) else None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def _turn_ended(payload: Payload) -> Fields:
    again = {"stop_hook_active": True} if payload.flag("stop_hook_active") else {}
    answer = words(payload, "prompt_response")
    return {"kind": EventKind.TURN_ENDED, "answer": answer, "extra": again}


EVENTS: dict[str, Reader] = {
    "SessionStart": hookform.started,
    "BeforeAgent": _prompt,
    "AfterTool": _tool_used,
    "AfterAgent": _turn_ended,
    "SessionEnd": hookform.ended,
}
