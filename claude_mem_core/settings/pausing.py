"""Whether the user has paused the memory: nothing is kept, nothing is put before an agent."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

KEY = "CLAUDE_MEM_PAUSED_UNTIL"
SESSIONS = "CLAUDE_MEM_INCOGNITO_SESSIONS"
OPEN_END = -1  # until `mem resume`


def is_paused(settings: Mapping[str, Any]) -> bool:
    """Whether a pause is on just now."""
    until = int(settings.get(KEY) or 0)
    return until == OPEN_END or until > time.time() * 1000


def is_incognito(session: str, settings: Mapping[str, Any]) -> bool:
    """Whether the user wants this session left alone: nothing kept, nothing shown."""
    return session in (settings.get(SESSIONS) or ())


def paused_text(settings: Mapping[str, Any]) -> str:
    """`paused until 2026-05-01 14:30` or `paused`; empty when it is not."""
    until = int(settings.get(KEY) or 0)
    if not is_paused(settings):
        return ""
    if until == OPEN_END:
        return "paused"
    return f"paused until {time.strftime('%Y-%m-%d %H:%M', time.localtime(until / 1000))}"
