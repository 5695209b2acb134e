"""Kimi Code's own journal of a session: where it lies, and the final answer in it.

Its stop hook says neither. Both are as version 2.1.0 has them; where another version
differs, nothing is found and the turn simply has no answer.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

SLUG = re.compile(r"[^a-z0-9._-]+")
SESSION = re.compile(r"[A-Za-z0-9_-]{1,128}")
SLUG_CHARS = 40
OPEN_STEP = {"tool.call", "step.begin"}

Entry = dict[str, Any]


def path_of(cwd: str, session_id: str) -> str | None:
    """Path of the main agent's journal, relative to the folder of all sessions."""
    if not cwd or not SESSION.fullmatch(session_id):
        return None
    place = cwd.replace("\\", "/").rstrip("/")
    digest = hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"wd_{_slug(place)}_{digest}/{session_id}/agents/main/wire.jsonl"


def _slug(place: str) -> str:
    slug = SLUG.sub("-", place.rpartition("/")[2].lower()).strip("-")
    slug = slug[:SLUG_CHARS].strip("-")
    return "workspace" if slug in {"", ".", ".."} else slug


def final_answer(lines: Sequence[bytes]) -> str | None:
    """What the agent said in the step that ended the last turn; None while it works."""
    parts: list[str] = []
    ended = False
    for event in _backwards(lines):
        kind = event.get("type")
        if not ended and (kind in OPEN_STEP or _goes_on(event)):
            return None
        ended = ended or kind == "step.end"
        if kind in {"turn.prompt", "step.begin"}:
            break
        parts.insert(0, _spoken(event))
    return "\n".join(filter(None, parts)) or None


def _goes_on(event: Entry) -> bool:
    return event.get("type") == "step.end" and event.get("finishReason") == "tool_use"


def _backwards(lines: Sequence[bytes]) -> Iterator[Entry]:
    """Prompts and the events of the agent's loop, newest first."""
    for line in reversed(lines):
        try:
            entry = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if not isinstance(entry, dict):
            continue
        event = entry.get("event")
        if entry.get("type") == "context.append_loop_event" and isinstance(event, dict):
            yield event
        elif entry.get("type") == "turn.prompt":
            yield entry


def _spoken(event: Entry) -> str:
    part = event.get("part")
    if event.get("type") != "content.part" or not isinstance(part, dict):
        return ""
    text = part.get("text")
    return text.strip() if part.get("type") == "text" and isinstance(text, str) else ""
