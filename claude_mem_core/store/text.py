"""Text as it goes into the tables: valid, bounded, and times and lists as people read them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import attrs

from claude_mem_core import convert
from claude_mem_core.convert import safe_text as safe

__all__ = [
    "Cut", "cut", "cut_json", "day", "digest", "dumps", "hashed", "iso", "loads_list",
    "loads_map", "maybe", "safe",
]  # fmt: skip

LIMIT = 65_536  # bytes of one field
MARK = "...[truncated: {} bytes]"
ROOM = 40  # bytes kept free for the mark
HEAD_SHARE = 0.75  # of what is kept of a cut text; errors stand at the end of an output
LEAVES = (60_000, 24_000, 6_000, 1_000)  # characters kept of each long string, in turn
LATEST_MS = 253_402_300_799_999  # the end of the year 9999


@attrs.frozen
class Cut:
    """A text within its limit, and the size and hash of the original in bytes."""

    text: str
    size: int
    hash: str
    shortened: bool


_encode = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False
).encode  # fmt: skip


def dumps(value: Any) -> str:
    """A JSON value as compact text that any column can hold."""
    try:
        text = _encode(value)
        if not text.isascii():
            text.encode()
    except (ValueError, TypeError):  # NaN, lone surrogates: rare, and mended there
        return convert.dumps(value)
    return convert.dumps(value) if "\\u0000" in text else text


def maybe(value: str | None) -> str | None:
    """`safe`, for a value that may be absent."""
    return None if value is None else safe(value)


def loads_list(text: str | None) -> tuple[str, ...]:
    """A JSON list column; anything else in it counts as one entry, never as an error."""
    if not text or text == "[]":
        return ()
    try:
        value = json.loads(text)
    except ValueError:
        return (text,)
    return tuple(map(str, value)) if isinstance(value, list) else (str(value),)


def loads_map(text: str | None) -> dict[str, Any]:
    """A JSON object column; anything else gives an empty one."""
    if not text or text == "{}":
        return {}
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def cut(value: str, limit: int = LIMIT) -> Cut:
    """`value` with its middle left out when it is longer than `limit` bytes."""
    raw = value.encode()
    if len(raw) <= limit:
        return Cut(value, len(raw), "", shortened=False)
    room = limit - ROOM
    head = raw[: int(room * HEAD_SHARE)].decode("utf-8", "ignore")
    tail = raw[len(raw) - (room - int(room * HEAD_SHARE)) :].decode("utf-8", "ignore")
    left_out = len(raw) - len(head.encode()) - len(tail.encode())
    return Cut(head + MARK.format(left_out) + tail, len(raw), digest(raw), shortened=True)


def cut_json(value: Any, limit: int = LIMIT) -> Cut:
    """`value` as JSON within `limit` bytes: long strings are cut before the JSON itself."""
    whole = dumps(value)
    size = len(whole) if whole.isascii() else len(whole.encode())
    if size <= limit:
        return Cut(whole, size, "", shortened=False)
    hashed = digest(whole.encode())
    for longest in LEAVES:
        text = dumps(_shorter(value, longest))
        if len(text.encode()) <= limit:
            return Cut(text, size, hashed, shortened=True)
    return Cut(cut(whole, limit).text, size, hashed, shortened=True)


def digest(raw: bytes) -> str:
    """Hash of a text, as the tables keep it."""
    return hashlib.sha256(raw).hexdigest()[:16]


def hashed(parts: Iterable[str]) -> str:
    """One hash over several texts."""
    return digest("\0".join(parts).encode())


def iso(ms: int) -> str:
    """A time as ISO text in UTC, with milliseconds."""
    return f"{_second(min(max(ms, 0), LATEST_MS) // 1000)}.{ms % 1000:03}Z"


def day(ms: int) -> str:
    """The day of a time, in UTC."""
    return iso(ms)[:10]


@lru_cache(maxsize=64)  # events come in bursts
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _shorter(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return cut(safe(value), longest).text
    if isinstance(value, Mapping):
        return {key: _shorter(part, longest) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_shorter(part, longest) for part in value]
    return value
