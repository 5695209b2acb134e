"""When a service says that it may be asked again: in headers, in the body, in prose."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

LONGEST_S = 31 * 86_400.0
RESETS = (
    "anthropic-ratelimit-unified-reset",
    "x-ratelimit-reset",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
)
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhd])")
WHOLE_SPAN = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|[smhd]))+")
RETRY_DELAY = re.compile(r'"retryDelay"\s*:\s*"([0-9.]+s)"')
IN_PROSE = re.compile(
    r"(?:try again|retry|wait)\D{0,20}?(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s|sec|seconds?|"
    r"m|min|minutes?|h|hours?)\b",
    re.IGNORECASE,
)
CLOCK = re.compile(
    r"resets?(?: at)? (\d{1,2})(?::(\d{2}))?\s*(am|pm)?\s*\(?(UTC|GMT)\b", re.IGNORECASE
)
DATE = re.compile(
    r"resets?(?: at| on)? (\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?)", re.IGNORECASE
)


def wait_of(
    headers: Mapping[str, str], text: str = "", now_s: float | None = None
) -> float | None:
    """Seconds after which the service may be asked again; None when it does not say.

    Args:
        headers: of its answer, in any case.
        text: its body, or what it said.
        now_s: seconds since the epoch.
    """
    now = time.time() if now_s is None else now_s
    lower = {name.lower(): value for name, value in headers.items()}
    found = _from_headers(lower, now)
    if found is None:
        found = _from_text(text, now)
    return None if found is None else min(max(found, 0.0), LONGEST_S)


def _from_headers(headers: Mapping[str, str], now: float) -> float | None:
    after = _number(headers.get("retry-after-ms", ""))
    if after is not None:
        return after / 1000
    after = _retry_after(headers.get("retry-after", ""), now)
    if after is not None:
        return after
    resets = (_reset(headers.get(name, ""), now) for name in RESETS)
    return next((reset for reset in resets if reset), None)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < 1e15 else None


def _retry_after(text: str, now: float) -> float | None:
    seconds = _number(text)
    if seconds is not None:
        return seconds
    try:
        return parsedate_to_datetime(text).timestamp() - now if text else None
    except (ValueError, OverflowError):
        return None


def _reset(text: str, now: float) -> float | None:
    """A moment (epoch in seconds or milliseconds) or a span (`1m30s`, seconds)."""
    if WHOLE_SPAN.fullmatch(text):
        return _span(text)
    value = _number(text)
    if value is None:
        return None
    if value > 1e11:
        value /= 1000
    return value - now if value > 1e9 else value


def _span(text: str) -> float:
    return sum(float(number) * UNITS[unit] for number, unit in SPAN.findall(text))


def _from_text(text: str, now: float) -> float | None:
    head = text[:20_000]
    if found := RETRY_DELAY.search(head):
        return _span(found[1])
    if found := IN_PROSE.search(head):
        return float(found[1]) * UNITS[_unit(found[2])]
    if found := CLOCK.search(head):
        return _until_clock(found, now)
    return _until_date(head, now)


def _unit(word: str) -> str:
    low = word.lower()
    return "ms" if low.startswith(("ms", "milli")) else low[0]


def _until_clock(found: re.Match[str], now: float) -> float | None:
    """Seconds until a time of day, today or tomorrow."""
    hour, minute = int(found[1]), int(found[2] or 0)
    if found[3]:
        hour = hour % 12 + (12 if found[3].lower() == "pm" else 0)
    if hour > 23 or minute > 59:
        return None
    today = datetime.fromtimestamp(now, UTC)
    then = today.replace(hour=hour, minute=minute, second=0, microsecond=0)
    if then <= today:
        then += timedelta(days=1)
    return (then - today).total_seconds()


def _until_date(text: str, now: float) -> float | None:
    found = DATE.search(text)
    if not found:
        return None
    try:
        then = datetime.fromisoformat(found[1])
    except ValueError:
        return None
    return then.replace(tzinfo=UTC).timestamp() - now
