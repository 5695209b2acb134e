"""Antigravity CLI's transcript: a JSON object a line, one for each step.

    {"step_index": 4, "source": "MODEL", "type": "PLANNER_RESPONSE", "content": "..."}

Steps of tools have the model as their source, too; only their type tells them apart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

PROMPT, SPOKEN = "USER_INPUT", "PLANNER_RESPONSE"
# What it puts around the words of the user, and beside them.
ASKED = re.compile(r"<USER_REQUEST>(.*?)</USER_REQUEST>", re.DOTALL)


def final_answer(lines: Sequence[bytes]) -> str | None:
    """What the agent said last, after the last prompt; None when nothing yet."""
    for step in _backwards(lines):
        if step.get("type") == PROMPT:
            return None
        if step.get("type") == SPOKEN and (said := _text(step.get("content"))):
            return said
    return None


def last_prompt(lines: Sequence[bytes]) -> tuple[str, str] | None:
    """The newest prompt: an id that tells it from all others, and its words."""
    for step in _backwards(lines):
        number = step.get("step_index")
        if step.get("type") == PROMPT and isinstance(number, int):
            text = _text(step.get("content"))
            asked = ASKED.search(text)
            return f"step-{number}", asked[1].strip() if asked else text
    return None


def _backwards(lines: Sequence[bytes]) -> Iterator[dict[str, Any]]:
    """The steps, newest first; what is none is passed over."""
    for line in reversed(lines):
        try:
            step = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(step, dict):
            yield step


def _text(content: Any) -> str:
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str)).strip()
