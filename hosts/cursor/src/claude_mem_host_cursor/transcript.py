"""Cursor's transcript of a conversation, read for the final answer of a turn.

One JSON object a line: `{"role": "user" | "assistant", "message": {"content": [...]}}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any


def final_answer(lines: Sequence[bytes]) -> str | None:
    """What the agent said last, after the last prompt; None when nothing yet."""
    for role, content in _backwards(lines):
        if role == "user":
            return None
        if role == "assistant":
            return _spoken(content)
    return None


def _backwards(lines: Sequence[bytes]) -> Iterator[tuple[str, Any]]:
    """Role and content of each entry, newest first; what is no entry is passed over."""
    for line in reversed(lines):
        try:
            entry = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            message = entry.get("message")
            content = message.get("content") if isinstance(message, dict) else message
            yield str(entry.get("role") or ""), content


def _spoken(content: Any) -> str | None:
    """The words of an entry; None while it goes on with a tool."""
    parts = [p for p in content if isinstance(p, dict)] if isinstance(content, list) else []
    if any(part.get("type") == "tool_use" for part in parts):
        return None
    texts = [content] if isinstance(content, str) else [part.get("text") for part in parts]
    said = "\n".join(text for text in texts if isinstance(text, str)).strip()
    return said or None
