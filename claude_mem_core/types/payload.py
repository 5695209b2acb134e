"""A hook's payload: one JSON object from a host, read with the documented refusals.

Every host adapter starts here, so that broken input means the same everywhere:
`InvalidInput` with `empty`, `not-json`, `not-an-object`, `truncated` or
`missing-field: NAME`, and never another exception.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

import attrs

from claude_mem_core.errors import InvalidInput
from claude_mem_core.types.events import Delivery

DEPTH = 64  # deeper values become text: what comes after us walks them recursively
IDENT = 128  # longest id of an agent, a prompt or a tool call
PATH = 4096


@attrs.frozen
class Payload:
    """The fields of a payload, asked for by the type they must have."""

    fields: Mapping[str, Any]

    def need(self, name: str, limit: int = 256) -> str:
        """A text that has to be there.

        Raises:
            InvalidInput: it is missing, empty, too long or no text.
        """
        value = self.fields.get(name)
        if not isinstance(value, str) or not value.strip() or len(value) > limit:
            missing(name)
        return value

    def text(self, name: str) -> str | None:
        """A text that may be absent or null.

        Raises:
            InvalidInput: it is there and no text.
        """
        value = self.fields.get(name)
        if value is not None and not isinstance(value, str):
            missing(name)
        return value

    def ident(self, name: str) -> str | None:
        """An id of 1 to 128 characters; anything else is as good as none."""
        value = self.fields.get(name)
        return value if isinstance(value, str) and 0 < len(value) <= IDENT else None

    def path(self, name: str) -> str | None:
        """A path as data: a text without NUL, of a length that a system takes."""
        value = self.fields.get(name)
        good = isinstance(value, str) and 0 < len(value) <= PATH and "\0" not in value
        return value if good else None

    def number(self, name: str) -> int | None:
        """A count that is no less than zero; anything else is as good as none."""
        value = self.fields.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return int(value) if 0 <= value < 1e15 else None

    def flag(self, name: str) -> bool:
        """True only when it is true."""
        return self.fields.get(name) is True


def missing(name: str) -> NoReturn:
    """Refuse a payload because of one field."""
    raise InvalidInput(f"missing-field: {name}")


def read_payload(delivery: Delivery) -> Payload:
    """The payload of a delivery.

    Raises:
        InvalidInput: with one of the documented reasons.
    """
    text = decoded(delivery.stdin).strip("\0 \t\r\n")
    if not text:
        raise InvalidInput("empty")
    value = _parsed(text)
    if not isinstance(value, dict):
        raise InvalidInput("not-an-object")
    deep = text.count("{") + text.count("[") > DEPTH
    return Payload(_shallow(value, DEPTH) if deep else value)


def decoded(raw: bytes) -> str:
    """The text of a document: UTF-8, or what older shells on Windows make of a pipe.

    Those wide encodings are told by their mark, or by the zeros beside the first signs.
    """
    marked = raw[:2] in {b"\xff\xfe", b"\xfe\xff"} or raw[:4] == b"\0\0\xfe\xff"
    zeros = raw[0:4:2] == b"\0\0" or raw[1:4:2] == b"\0\0"
    encoding = json.detect_encoding(raw) if marked or zeros else "utf-8-sig"
    return raw.decode(encoding, "replace")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, strict=False, parse_constant=_no_constant)
    except RecursionError:
        raise InvalidInput("not-json") from None
    except ValueError as error:
        raise InvalidInput(_reason(text, error)) from None


def _no_constant(word: str) -> NoReturn:
    raise ValueError(word)


def _reason(text: str, error: ValueError) -> str:
    """`truncated` when a JSON object or list just stops, else `not-json`."""
    if text[0] not in "{[" or not isinstance(error, json.JSONDecodeError):
        return "not-json"
    ends = error.pos >= len(text) or error.msg.startswith("Unterminated")
    cut = text[-1] not in "}]" and not error.msg.startswith("Extra data")
    return "truncated" if ends or cut else "not-json"


def _shallow(value: Any, left: int) -> Any:
    """The same value, with what lies deeper than `left` levels written as JSON text."""
    if not isinstance(value, dict | list):
        return value
    if left == 0:
        return json.dumps(value)
    if isinstance(value, list):
        return [_shallow(item, left - 1) for item in value]
    return {key: _shallow(item, left - 1) for key, item in value.items()}
