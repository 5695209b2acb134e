"""Whether the user has paused the memory: nothing is kept, nothing is put before an agent."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

KEY = "CLAUDE_MEM_PAUSED_UNTIL"
SESSIONS = "CLAUDE_MEM_INCOGNITO_SESSIONS"
SPANS = "CLAUDE_MEM_PAUSES"
MOST_SPANS = 300  # the oldest go
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


# Transcripts ------------------------------------------------------------------------------
#
# A host's own transcript still holds what was said in a pause, and is read when that is
# over. So pauses are kept: `FROM-UNTIL`, `FROM-` while one is on, `:SESSION` for only one.


def spans(before: Sequence[str], now: int, until: int | None, session: str = "") -> list[str]:
    """The list of pauses with what ends or begins now.

    Args:
        until: when the one that begins will end, `OPEN_END` for nobody knows; None: none begins.
        session: the one that it is about; empty for all of them.
    """
    kept = [_ended(span, now) if _session(span) == session else span for span in before]
    if until is not None:
        end = "" if until == OPEN_END else until
        kept.append(f"{now}-{end}:{session}" if session else f"{now}-{end}")
    return kept[-MOST_SPANS:]


def was_paused(at_ms: int, session: str, settings: Mapping[str, Any]) -> str | None:
    """Why nothing was kept when this was said, now that it is told again; None otherwise.

    What was said at no known time was not said in a pause, unless its own session had one.
    """
    for begin, end, only in map(_read, settings.get(SPANS) or ()):
        if only in ("", session) and (begin <= at_ms < end or (only and not at_ms)):
            return "incognito" if only else "paused"
    return None


def _ended(span: str, now: int) -> str:
    begin, end, only = _read(span)
    return span if end <= now else f"{begin}-{now}" + (f":{only}" if only else "")


def _session(span: str) -> str:
    return span.partition(":")[2]


def _read(span: str) -> tuple[int, float, str]:
    """Beginning, end and session; what is no span is one of no length."""
    times, _, session = span.partition(":")
    begin, _, end = times.partition("-")
    if not begin.isdecimal() or (end and not end.isdecimal()):
        return 0, 0, session
    return int(begin), int(end) if end else float("inf"), session
