"""Copilot CLI's own log of a session's events, read for the final answer of a turn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

Entry = dict[str, Any]


def final_answer(lines: Sequence[bytes]) -> str | None:
    """What the agent said last, after the last prompt; None when nothing yet."""
    for entry in _backwards(lines):
        kind = entry.get("type")
        if kind == "user.message":
            return None
        if kind == "assistant.message":
            return _spoken(entry)
    return None


def _backwards(lines: Sequence[bytes]) -> Iterator[Entry]:
    """The main agent's entries, newest first."""
    for line in reversed(lines):
        try:
            entry = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict) and not _of_subagent(entry):
            yield entry


def _of_subagent(entry: Entry) -> bool:
    data = entry.get("data")
    inner = data if isinstance(data, dict) else {}
    return bool(inner.get("parentToolCallId") or entry.get("agentId"))


def _spoken(entry: Entry) -> str | None:
    """Its words; None while it goes on with a tool."""
    data = entry.get("data")
    if not isinstance(data, dict) or data.get("toolRequests"):
        return None
    text = data.get("content")
    return text.strip() or None if isinstance(text, str) else None
