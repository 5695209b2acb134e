"""The JSON Schema of settings that may be changed over the API, from their declarations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from claude_mem_core.settings.retention_area import NAMES
from claude_mem_core.types import Setting
from claude_mem_core.worker.spec import Schema

LONGEST = 4096
NO_LIST = r"^[^\[]*$"  # a text that begins like a JSON list is read as one
RULE: Schema = {
    "type": "object",
    "properties": {
        "kind": {"enum": [*NAMES, "all"]},
        "project": {},
        "days": {"type": "integer", "minimum": 0},
        "count": {"type": "integer", "minimum": 0},
    },
    "required": ["kind"],
    "anyOf": [
        {"required": [name], "properties": {name: {"minimum": 1}}} for name in ("days", "count")
    ],
    "additionalProperties": False,
}
# Settings that take less over the API than their type says.
NARROW: dict[str, Schema] = {
    "CLAUDE_MEM_WORKER_HOST": {"enum": ["127.0.0.1", "localhost"]},
    "CLAUDE_MEM_RETENTION_RULES": {"type": "array", "items": RULE},
}


def body_of(declared: Iterable[Setting]) -> Schema:
    """An object of settings; nothing but those that a page may write."""
    parts = {s.key: NARROW.get(s.key) or of(s) for s in declared if "viewer" in s.sources}
    return {"type": "object", "properties": parts, "additionalProperties": False}


def of(setting: Setting) -> dict[str, Any]:
    """What one setting takes: its JSON value, or the text that stands in the file."""
    if setting.type == "bool":
        return {"enum": [True, False, "true", "false"]}
    if setting.type == "enum":
        return {"enum": list(setting.choices)}
    if setting.type == "int":
        return _whole(int(setting.low or 0), int(setting.high or 2**53))
    if setting.type == "json":  # its own rules are told when it is used, see its help
        return {"type": "array" if isinstance(setting.default, list) else "object"}
    text = {"type": "string", "maxLength": LONGEST}
    if setting.type == "csv":
        words = {"type": "array", "maxItems": 200, "items": text}
        return {"anyOf": [{**text, "pattern": NO_LIST}, words]}
    return text


def _whole(low: int, high: int) -> dict[str, Any]:
    pattern = f"^({'|'.join(between(low, high))})$"
    number = {"type": "integer", "minimum": low, "maximum": high}
    return {"anyOf": [number, {"type": "string", "pattern": pattern}]}


def between(low: int, high: int) -> Iterator[str]:
    """Patterns that match the decimals from `low` to `high` and nothing else."""
    while low <= high:
        step = 1
        while low % (step * 10) == 0 and low + step * 10 - 1 <= high and low:
            step *= 10
        last = low
        while last % (step * 10) < step * 9 and last + 2 * step - 1 <= high:
            last += step
        yield _block(low // step, last // step, len(str(step)) - 1)
        low = last + step


def _block(first: int, last: int, free: int) -> str:
    """Numbers that differ in one digit, followed by `free` digits of any kind."""
    head, digit, end = str(first)[:-1], str(first)[-1], str(last)[-1]
    one = digit if digit == end else f"[{digit}-{end}]"
    tail = "" if not free else "[0-9]" if free == 1 else f"[0-9]{{{free}}}"
    return f"{re.escape(head)}{one}{tail}"
