"""Single values of a row that somebody else wrote: told what is wrong, or made to fit.

`Strict` refuses what is not as documented; it is for files that people hand in. `Lenient`
takes what it can get; it is for databases, whose rows nobody can mend.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from claude_mem_core.convert import json_loads_bounded
from claude_mem_core.errors import InvalidInput
from claude_mem_core.store.text import LATEST_MS

MOST_ENTRIES = 1_000  # of one list
LONGEST = 1 << 20  # characters of one text; cut to 64 KB when it is kept
SECONDS = 100_000_000_000  # a smaller time is in seconds: as milliseconds it is of 1973
BIGGEST = 2**53


class Reading(Protocol):
    """How values are read."""

    def text(self, value: Any, name: str) -> str: ...

    def number(self, value: Any, name: str) -> int | None: ...

    def time(self, value: Any, name: str) -> int: ...

    def list(self, value: Any, name: str) -> tuple[str, ...]: ...

    def map(self, value: Any, name: str) -> Mapping[str, Any]: ...


class Strict:
    """Refuses what is not as documented, naming the value."""

    def text(self, value: Any, name: str) -> str:
        """A text; nothing gives an empty one."""
        if value is None:
            return ""
        if not isinstance(value, str):
            raise InvalidInput(f"{name} must be text")
        if len(value) > LONGEST:
            raise InvalidInput(f"{name} is longer than {LONGEST:,} characters")
        return value

    def number(self, value: Any, name: str) -> int | None:
        """A whole number that is not negative."""
        if value is None:
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < BIGGEST:
            raise InvalidInput(f"{name} must be a whole number from 0 on")
        return int(value)

    def time(self, value: Any, name: str) -> int:
        """Milliseconds: of a number (in seconds if it is small) or of a date as text."""
        if value is None:
            return 0
        if isinstance(value, str):
            return _date(value, name)
        return _milliseconds(self.number(value, name) or 0, name)

    def list(self, value: Any, name: str) -> tuple[str, ...]:
        """A list of texts, also as JSON in a text, as the tables keep it."""
        entries = _listed(value)
        if not isinstance(entries, list):
            raise InvalidInput(f"{name} must be a list of texts")
        if len(entries) > MOST_ENTRIES:
            raise InvalidInput(f"{name} has more than {MOST_ENTRIES:,} entries")
        return tuple(self.text(entry, f"an entry of {name}") for entry in entries)

    def map(self, value: Any, name: str) -> Mapping[str, Any]:
        """An object, also as JSON in a text."""
        found = parsed_json(value) if isinstance(value, str) else value
        if found in (None, ""):
            return {}
        if not isinstance(found, dict):
            raise InvalidInput(f"{name} must be an object")
        return found


class Lenient:
    """Takes what it can get; what makes no sense is nothing."""

    def __init__(self) -> None:
        self._strict = Strict()

    def text(self, value: Any, name: str) -> str:
        """Any value as text."""
        return "" if value is None else str(value)[:LONGEST]

    def number(self, value: Any, name: str) -> int | None:
        """A whole number, also written as text."""
        try:
            return self._strict.number(int(float(str(value))), name)
        except (ValueError, OverflowError, InvalidInput):
            return None

    def time(self, value: Any, name: str) -> int:
        """Milliseconds; 0 when nothing tells."""
        number = self.number(value, name)
        try:
            return self._strict.time(value if number is None else number, name)
        except InvalidInput:
            return 0

    def list(self, value: Any, name: str) -> tuple[str, ...]:
        """Entries of a list; of another text that text alone."""
        entries = _listed(value)
        entries = entries if isinstance(entries, list) else [entries]
        return tuple(self.text(entry, name) for entry in entries[:MOST_ENTRIES] if entry)

    def map(self, value: Any, name: str) -> Mapping[str, Any]:
        """An object, or an empty one."""
        try:
            return self._strict.map(value, name)
        except InvalidInput:
            return {}


def _listed(value: Any) -> Any:
    if value is None or value == "":
        return []
    found = parsed_json(value) if isinstance(value, str) else value
    return [found] if isinstance(found, str) else found


def parsed_json(text: str) -> Any:
    """JSON if it begins like a list or an object, else the text itself."""
    if text.lstrip()[:1] not in {"[", "{"}:
        return text
    try:
        return json_loads_bounded(text, LONGEST * 4)
    except InvalidInput:
        return text


def _date(text: str, name: str) -> int:
    if text.strip().isdigit() and len(text.strip()) < 16:
        return _milliseconds(int(text), name)
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(f"{name} must be a date such as 2026-05-01T09:00:00Z") from None
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    return _milliseconds(int(found.timestamp() * 1000), name)


def _milliseconds(number: int, name: str) -> int:
    found = number * 1000 if 0 < number < SECONDS else number
    if not 0 <= found <= LATEST_MS:
        raise InvalidInput(f"{name} must lie between the years 1970 and 9999")
    return found


def as_json(value: Mapping[str, Any]) -> str:
    """A map as it is measured."""
    return json.dumps(value, ensure_ascii=False)
