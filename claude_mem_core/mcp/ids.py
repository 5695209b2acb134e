"""Ids as models write them."""

from __future__ import annotations

from typing import Any

from claude_mem_core.errors import InvalidInput


def strings(value: Any, name: str) -> list[str]:
    """A list of ids, however a model wrote it: a list, one value, commas.

    Raises:
        InvalidInput: there is none.
    """
    values = value if isinstance(value, list) else str(value or "").strip("[]").split(",")
    found = [worded(v).strip().strip("\"'") for v in values if not isinstance(v, dict | list)]
    found = [text for text in found if text and "," not in text]
    if not found:
        raise InvalidInput(f"{name} is required: a list of ids, as search gives them")
    return list(dict.fromkeys(found))


def worded(value: Any) -> str:
    """A value as it stands in a query."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(map(worded, value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
