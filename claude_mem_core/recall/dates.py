"""Times as people read and write them, in the local time zone of the worker."""

from __future__ import annotations

from datetime import datetime, time, timedelta

from claude_mem_core.errors import InvalidInput

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LATEST_MS = 253_402_214_400_000  # late in 9999, a day before the calendar ends


def local(at_ms: int) -> datetime:
    """A time in the local zone; times outside the calendar go to its ends."""
    return datetime.fromtimestamp(min(max(at_ms, 0), _LATEST_MS) / 1000)


def heading(at_ms: int) -> str:
    """`Oct 5, 2026`."""
    day = local(at_ms)
    return f"{_MONTHS[day.month - 1]} {day.day}, {day.year}"


def clock(at_ms: int) -> str:
    """`4:30p`."""
    at = local(at_ms)
    return f"{at.hour % 12 or 12}:{at.minute:02}{'ap'[at.hour // 12]}"


def clock_long(at_ms: int) -> str:
    """`4:30 PM`."""
    at = local(at_ms)
    return f"{at.hour % 12 or 12}:{at.minute:02} {('AM', 'PM')[at.hour // 12]}"


def day(at_ms: int) -> str:
    """`2026-10-05`."""
    return local(at_ms).strftime("%Y-%m-%d")


def day_number(at_ms: int) -> int:
    """The day as a number; the next day's is one more."""
    return local(at_ms).toordinal()


def minute(at_ms: int) -> str:
    """`2026-10-05 16:30`."""
    return local(at_ms).strftime("%Y-%m-%d %H:%M")


def parse(text: str, *, end: bool = False) -> int:
    """A date or time as milliseconds: `YYYY-MM-DD`, ISO, or milliseconds themselves.

    A date alone is its first moment, with `end` its last. Without a zone it is local.

    Raises:
        InvalidInput: it is none of these.
    """
    text = text.strip()
    if text.isascii() and text.isdigit() and len(text) > 8:
        return min(int(text[:15]), _LATEST_MS)
    try:
        if len(text) == 10:
            at = datetime.combine(datetime.fromisoformat(text), time.min)
            at = at + timedelta(days=1, milliseconds=-1) if end else at
        else:
            at = datetime.fromisoformat(text)
        return max(0, int(at.timestamp() * 1000))
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(
            f"{text[:40]!r} is no date; use YYYY-MM-DD, an ISO time, or milliseconds"
        ) from error
