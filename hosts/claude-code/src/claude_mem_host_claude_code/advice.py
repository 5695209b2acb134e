"""Advisor calls in Claude Code's transcript: the call, and the advice that answers it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from claude_mem_core.types import AdvisorCall

CALLS = {"tool_use", "server_tool_use"}
RESULTS = {"tool_result", "advisor_tool_result"}


def advisor_calls(lines: Sequence[bytes]) -> list[AdvisorCall]:
    """The calls that got an answer, oldest first."""
    asked: dict[str, str] = {}
    found: dict[str, AdvisorCall] = {}
    for block, model in _blocks(lines):
        kind = block.get("type")
        if kind in CALLS and block.get("name") == "advisor":
            asked[str(block.get("id"))] = _model(block.get("input")) or model
        number = str(block.get("tool_use_id"))
        if kind in RESULTS and number in asked:
            advice = _text(block.get("content"))
            if advice:
                used = _model(block.get("content")) or asked[number]
                found[number] = AdvisorCall(id=number, advice=advice, model=used)
    return list(found.values())


def _blocks(lines: Sequence[bytes]) -> Iterator[tuple[dict[str, Any], str]]:
    """Every content block, with the advisor's model if the message's usage names it."""
    for line in lines:
        message = _message(line)
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict):
                yield block, _used(message.get("usage"))


def _message(line: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    message = entry.get("message") if isinstance(entry, dict) else None
    return message if isinstance(message, dict) else {}


def _used(usage: object) -> str:
    steps = usage.get("iterations") if isinstance(usage, dict) else None
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, dict) and "advisor" in str(step.get("type")):
            return str(step.get("model") or "")
    return ""


def _model(value: object) -> str:
    return str(value.get("model") or "") if isinstance(value, dict) else ""


def _text(content: object) -> str:
    if isinstance(content, str):
        return content.strip()
    if isinstance(content, dict):
        return _text(content.get("text") or content.get("content"))
    if isinstance(content, list):
        return "\n".join(filter(None, map(_text, content)))
    return ""
