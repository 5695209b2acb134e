"""Values to JSON and back: the journal's events, and JSON from outside within bounds."""

from __future__ import annotations

import json
import re
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, NoReturn

from claude_mem_core.errors import InvalidInput
from claude_mem_core.types import Event

if TYPE_CHECKING:
    from cattrs import Converter

MAX_DEPTH = 64
# What came in at the limit lies some levels deeper inside an event.
OWN_DEPTH = 256
MAX_DIGITS = 100
# Python's values are many times larger than their JSON: a small file could fill the memory.
MAX_VALUES, MAX_CONTAINERS = 5_000_000, 1_000_000
REPLACEMENT = "\ufffd"

SURROGATE = re.compile("[\ud800-\udfff]")
# A whole JSON string, also one that the text's end cuts off: then each character is
# looked at once, whatever the input (no second try starts inside the string).
STRING = re.compile(r'"(?>[^"\\]+|\\(?:.|\Z))*+(?:"|\Z)', re.DOTALL)
LONG_NUMBER = re.compile(rf"[0-9]{{{MAX_DIGITS + 1}}}")
NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


# Text that every consumer can take ---------------------------------------------


def safe_text(text: str) -> str:
    """Replace unpaired surrogates by U+FFFD and leave NUL out; all else stays."""
    if "\0" in text:
        text = text.replace("\0", "")
    return text if text.isascii() else SURROGATE.sub(REPLACEMENT, text)


def safe_value(value: Any) -> Any:
    """`safe_text` in every string of a JSON value, keys too; NaN and infinities are null."""
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, dict):
        return {safe_value(key): safe_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [safe_value(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value


def dumps(value: Any) -> str:
    """A JSON value as compact text: valid UTF-8 once encoded, free of NUL."""
    return json.dumps(
        safe_value(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )


# Events -------------------------------------------------------------------------


@cache
def converter() -> Converter:
    """The one converter; made when first asked for, since cattrs takes 30 ms to load."""
    from cattrs import Converter

    return Converter(omit_if_default=True)


def event_to_json(event: Event) -> str:
    """An event as JSON; fields that hold their default are left out."""
    return dumps(converter().unstructure(event, Event))


def event_from_json(text: str) -> Event:
    """The event that `event_to_json` wrote; fields of a newer version are passed over.

    Raises:
        InvalidInput: the text is no event.
    """
    from cattrs import BaseValidationError, transform_error

    value = json_loads_bounded(text, len(text) * 4, OWN_DEPTH)
    try:
        return converter().structure(value, Event)
    except BaseValidationError as error:
        raise InvalidInput(f"not an event: {'; '.join(transform_error(error))}") from None


# JSON from outside --------------------------------------------------------------


def json_loads_bounded(data: bytes | str, max_bytes: int, max_depth: int = MAX_DEPTH) -> Any:
    """Parse JSON that may be hostile; size and depth are checked first, in linear time.

    NaN, infinities and numbers of over 100 digits are refused, a byte-order mark is
    passed over.

    Raises:
        InvalidInput: too large, too deep, not UTF-8, or not JSON (with line and column).
    """
    text = _decoded(data, max_bytes)
    check_shape(text, max_depth)
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise InvalidInput(f"not JSON: {error.msg} at {where}") from None


def _decoded(data: bytes | str, max_bytes: int) -> str:
    if isinstance(data, str):
        size = len(data) if data.isascii() else len(data.encode("utf-8", "surrogatepass"))
    else:
        size = len(data)
    if size > max_bytes:
        raise InvalidInput(f"{size:,} bytes of JSON; at most {max_bytes:,} are taken")
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"not UTF-8 at byte {error.start}") from None


def check_shape(text: str, max_depth: int = MAX_DEPTH) -> None:
    """Refuse what would be costly to parse, looking at each character once.

    Raises:
        InvalidInput: nested deeper than `max_depth`, too many values, or a number of
            over 100 digits.
    """
    bare = STRING.sub(" ", text)
    if LONG_NUMBER.search(bare):
        raise InvalidInput(f"a number has over {MAX_DIGITS} digits")
    depth = 0
    brackets = bare.encode("utf-8", "surrogatepass").translate(None, NOT_BRACKETS)
    if bare.count(",") > MAX_VALUES or len(brackets) > 2 * MAX_CONTAINERS:
        raise InvalidInput(
            f"more than {MAX_CONTAINERS:,} lists and objects, or {MAX_VALUES:,} values"
        )
    for bracket in brackets:
        depth += STEP[bracket]
        if depth > max_depth:
            raise InvalidInput(f"nested deeper than {max_depth} levels")


def _refuse(name: str) -> NoReturn:
    raise InvalidInput(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise InvalidInput("a number is too large")
    return number
