"""From what stands in a file or the environment to a typed value, and back to text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from math import isfinite
from typing import Any

import attrs

from claude_mem_core.convert import dumps, json_loads_bounded
from claude_mem_core.errors import InvalidInput
from claude_mem_core.types import Setting

JSON_BYTES = 1_000_000
REGEX_CHARS = 1_000
WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
HOST = re.compile(r"localhost|\[?[0-9A-Fa-f:]*:[0-9A-Fa-f:.]+\]?|[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
TRUE = frozenset({"true", "1", "yes", "on"})
FALSE = frozenset({"false", "0", "no", "off"})
# For these a blank text means that nothing was chosen.
BLANK_IS_DEFAULT = frozenset({"bool", "int", "number", "enum", "json"})
PLAIN = re.compile(r"[A-Za-z0-9_.+-]{1,16}")


class BadValue(ValueError):
    """A value that a setting can't take; the text says what it is and what is allowed."""


@attrs.frozen
class Parsed:
    """A typed value; `note` says how it differs from what was written."""

    value: Any
    note: str = ""


def parse(setting: Setting, raw: Any) -> Parsed:
    """Read a setting's value as it was written: text, or a JSON value.

    Raises:
        BadValue: it is of the wrong type or not allowed.
    """
    if _is_blank(setting, raw):
        return Parsed(setting.default)
    try:
        value = READERS[setting.type](setting, raw)
    except ValueError:
        raise BadValue(f"is {described(setting, raw)}; allowed: {allowed(setting)}") from None
    return _bounded(setting, _checked(setting, value))


def _is_blank(setting: Setting, raw: Any) -> bool:
    if not isinstance(raw, str) or raw.strip():
        return False
    return setting.type in BLANK_IS_DEFAULT or (setting.type == "string" and setting.default)


def described(setting: Setting, raw: Any) -> str:
    """What a wrong value is, for a warning: its type, and itself when that gives nothing away."""
    kind = TYPE_NAMES.get(type(raw), "of an unknown type")
    shown = raw if isinstance(raw, str) else json.dumps(raw, default=str)
    if setting.type == "secret" or not PLAIN.fullmatch(shown):
        return kind
    return f"{kind} ({shown})"


TYPE_NAMES = {
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def allowed(setting: Setting) -> str:
    """What a setting takes, in words."""
    if setting.type == "enum":
        return ", ".join(choice or "nothing" for choice in setting.choices)
    words = ALLOWED[setting.type]
    if setting.type == "json":
        words = "a JSON list" if isinstance(setting.default, list) else "a JSON object"
    if setting.low is None or setting.high is None:
        return CHECKED.get(setting.key, (words,))[0]
    return f"{words} from {setting.low:g} to {setting.high:g}"


ALLOWED = {
    "bool": "true or false",
    "int": "a whole number",
    "number": "a number",
    "string": "text",
    "csv": "names separated by commas",
    "json": "JSON",
    "path": "a path",
    "secret": "text",
    "regex": f"a regular expression of at most {REGEX_CHARS} characters",
}


# Reading by type -----------------------------------------------------------------


def _text(setting: Setting, raw: Any) -> str:
    if not isinstance(raw, str) or "\0" in raw:
        raise ValueError
    # An unpaired surrogate can't be written; its error is a ValueError too.
    raw.encode()
    return raw.strip()


def _bool(setting: Setting, raw: Any) -> bool:
    if isinstance(raw, bool):
        return raw
    word = str(raw).strip().lower() if isinstance(raw, str | int) else ""
    if word in TRUE or word in FALSE:
        return word in TRUE
    raise ValueError


def _int(setting: Setting, raw: Any) -> int:
    if isinstance(raw, bool):
        raise ValueError  # noqa: TRY004 - all readers refuse with ValueError
    if isinstance(raw, int) and abs(raw) < 10**18:
        return raw
    if isinstance(raw, str) and WHOLE.fullmatch(raw.strip()):
        return int(raw)
    raise ValueError


def _number(setting: Setting, raw: Any) -> float:
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        raise ValueError  # noqa: TRY004 - all readers refuse with ValueError
    try:
        number = float(raw)
    except OverflowError:
        raise ValueError from None
    if not isfinite(number):
        raise ValueError
    return number


def _enum(setting: Setting, raw: Any) -> str:
    word = _text(setting, raw).lower()
    for choice in setting.choices:
        if choice.lower() == word:
            return choice
    raise ValueError


def _csv(setting: Setting, raw: Any) -> tuple[str, ...]:
    if isinstance(raw, str):
        raw = _listed(raw)
    if not isinstance(raw, list | tuple):
        raise ValueError  # noqa: TRY004 - all readers refuse with ValueError
    words = [_text(setting, word) for word in raw]
    return tuple(word for word in words if word)


def _listed(text: str) -> list[Any]:
    """The parts of a text; a JSON list in it is taken as the list it is."""
    if text.lstrip().startswith("["):
        try:
            value = json_loads_bounded(text, JSON_BYTES)
        except InvalidInput:
            value = None
        if isinstance(value, list):
            return value
    return text.split(",")


def _json(setting: Setting, raw: Any) -> Any:
    if isinstance(raw, str):
        try:
            raw = json_loads_bounded(raw, JSON_BYTES)
        except InvalidInput:
            raise ValueError from None
    if type(raw) is not type(setting.default):
        raise ValueError
    return raw


def _regex(setting: Setting, raw: Any) -> str:
    text = _text(setting, raw)
    if len(text) > REGEX_CHARS:
        raise ValueError
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError, Warning):
        raise ValueError from None
    return text


def _path(setting: Setting, raw: Any) -> str:
    import os

    return os.path.expanduser(_text(setting, raw))


READERS: dict[str, Callable[[Setting, Any], Any]] = {
    "bool": _bool,
    "int": _int,
    "number": _number,
    "string": _text,
    "enum": _enum,
    "csv": _csv,
    "json": _json,
    "path": _path,
    "secret": _text,
    "regex": _regex,
}


# Bounds and what a type can't say ---------------------------------------------------


def _bounded(setting: Setting, value: Any) -> Parsed:
    low, high = setting.low, setting.high
    if low is None or high is None or not isinstance(value, int | float):
        return Parsed(value)
    if low <= value <= high:
        return Parsed(value)
    if not setting.clamp:
        raise BadValue(f"is {value}; allowed: {allowed(setting)}")
    nearest = type(value)(min(max(value, low), high))
    return Parsed(nearest, f"is {value}; {nearest} is used, allowed: {allowed(setting)}")


def _checked(setting: Setting, value: Any) -> Any:
    if setting.key not in CHECKED:
        return value
    words, check = CHECKED[setting.key]
    try:
        return check(value)
    except ValueError:
        raise BadValue(f"is {described(setting, value)}; allowed: {words}") from None


def _host(value: str) -> str:
    parts = value.split(".")
    numbers = len(parts) == 4 and all(part.isdigit() for part in parts)
    if not HOST.fullmatch(value) or (numbers and any(int(part) > 255 for part in parts)):
        raise ValueError
    return value


def _minute(value: int) -> int:
    return 60 if 0 < value < 60 else value


def _url(value: str) -> str:
    if value and not value.startswith(("http://", "https://")):
        raise ValueError
    return value


CHECKED: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "CLAUDE_MEM_WORKER_HOST": ("an IP address or localhost", _host),
    "CLAUDE_MEM_IDLE_EXIT_SEC": ("0, or a whole number of seconds from 60", _minute),
    "CLAUDE_MEM_PUBLIC_URL": ("an http or https address", _url),
}


# Back to text -------------------------------------------------------------------------


def as_text(setting: Setting, value: Any) -> str:
    """A typed value as it is written into the settings file."""
    if setting.type == "bool":
        return "true" if value else "false"
    if setting.type == "csv":
        words = list(value)
        fits = not any("," in word for word in words)
        return ",".join(words) if fits else dumps(words)
    if setting.type == "json":
        return dumps(value)
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def masked_text(setting: Setting, value: Any) -> str:
    """The same with a secret reduced to its last four characters, for showing."""
    text = as_text(setting, value)
    if setting.type == "secret":
        return hidden(text)
    return URL_PASSWORD.sub(r"\1****@", text)


URL_PASSWORD = re.compile(r"(https?://)[^/@\s]+@")


def hidden(text: str) -> str:
    """A secret as it may be shown: nothing of a short one, the end of a long one."""
    if not text:
        return ""
    return "****" + (text[-4:] if len(text) >= 12 else "")
