"""The final answer of the last turn, from the lines of Claude Code's transcript.

The file is read from its end: side chains, thinking, tool calls, notes of the host and
half-written lines are passed over; the user's last message ends the search, so an older
turn's answer is never taken for this one's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

Entry = dict[str, Any]


def final_answer(lines: Sequence[bytes]) -> str | None:
    """The agent's last words after the user's last message; None when there are none.

    Blocks of one message, which newer versions write as a line each, are joined.
    """
    parts: list[str] = []
    message_id = None
    for entry in _backwards(lines):
        message = entry["message"]
        if entry.get("type") == "user":
            if _is_prompt(entry, message):
                break
            continue
        if parts and (message_id is None or message.get("id") != message_id):
            break
        text = _spoken(entry, message)
        if text:
            parts.insert(0, text)
            message_id = message.get("id")
    return "\n".join(parts).strip() or None


def _backwards(lines: Sequence[bytes]) -> Iterator[Entry]:
    """The main chain's messages, newest first."""
    for line in reversed(lines):
        entry = _entry(line)
        if entry is not None and not entry.get("isSidechain"):
            yield entry


def _entry(line: bytes) -> Entry | None:
    try:
        entry = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or entry.get("type") not in ("user", "assistant"):
        return None
    return entry if isinstance(entry.get("message"), dict) else None


def _is_prompt(entry: Entry, message: Entry) -> bool:
    """Whether a user's entry begins a turn: not a tool's result, not a note."""
    if entry.get("isMeta"):
        return False
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    results = [isinstance(b, dict) and b.get("type") == "tool_result" for b in blocks]
    return not (results and all(results))


def _spoken(entry: Entry, message: Entry) -> str:
    """What an assistant's entry says aloud; empty for thinking, tool calls and errors."""
    if entry.get("isApiErrorMessage") or entry.get("isMeta"):
        return ""
    content = message.get("content")
    if isinstance(content, str):
        return content.strip()
    blocks = content if isinstance(content, list) else []
    texts = (b.get("text") for b in blocks if isinstance(b, dict) and b.get("type") == "text")
    return "\n".join(t.strip() for t in texts if isinstance(t, str) and t.strip())
