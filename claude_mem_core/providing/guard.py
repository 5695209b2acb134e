"""Leaves the rest of a subscription to its owner: stops before a window is used up."""

from __future__ import annotations

from collections.abc import Iterable

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.settings.provider_area import WINDOWS
from claude_mem_core.types import Values, Window

NEAR_RESET_MS = 15 * 60_000
NEAR_RESET = 0.85
UNKNOWN_RESET_MS = 30 * 60_000


def stops(windows: Iterable[Window], values: Values, now: int) -> ProviderError | None:
    """The failure that a used-up window means; None when all have room."""
    for window in windows:
        if window.resets_at_ms and window.resets_at_ms <= now:
            continue  # it has begun anew since
        if window.rejected or window.used >= _threshold(window, values, now):
            return _stopped(window, now)
    return None


def _threshold(window: Window, values: Values, now: int) -> float:
    known = WINDOWS.get(window.name)
    if known is None:
        return 2.0
    near = 0 < window.resets_at_ms - now <= NEAR_RESET_MS
    if window.name == "five_hour" and near:
        return min(NEAR_RESET, float(values[known[0]]))
    return float(values[known[0]])


def _stopped(window: Window, now: int) -> ProviderError:
    what = WINDOWS[window.name][2] if window.name in WINDOWS else window.name
    left = max(window.resets_at_ms - now, 0) or UNKNOWN_RESET_MS
    used = "is spent" if window.rejected else f"is used to {window.used:.0%}"
    text = f"{what} of the subscription {used}; the rest is left to you"
    return ProviderError(Failure.QUOTA, text, retry_after_s=left / 1000)
