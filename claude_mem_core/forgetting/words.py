"""The ways in which a text may stand in a file."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable

SHORTEST = 4  # characters; less than that stands everywhere
HALF = 8  # bytes of half a text that are telling


def spellings(text: str) -> tuple[str, ...]:
    """The text, and how it stands inside JSON, and inside JSON that is a string of JSON."""
    found: dict[str, None] = {}
    for form in dict.fromkeys((text, *_normal(text))):
        once = [_inside_json(form, ascii_only=only) for only in (False, True)]
        twice = [_inside_json(part, ascii_only=only) for part in once for only in (False, True)]
        found.update(dict.fromkeys((form, *once, *twice)))
    return tuple(found)


def _normal(text: str) -> Iterable[str]:
    return (unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text))


def _inside_json(text: str, *, ascii_only: bool) -> str:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def needles(texts: Iterable[str]) -> tuple[bytes, ...]:
    """The bytes of texts in all spellings, in UTF-8 and in both orders of UTF-16."""
    found: dict[bytes, None] = {}
    for text in texts:
        for form in spellings(text):
            found[form.encode("utf-8", "surrogatepass")] = None
        for order in ("utf-16-le", "utf-16-be"):
            found[text.encode(order, "surrogatepass")] = None
    return tuple(found)


def halves(of: Iterable[bytes]) -> tuple[bytes, ...]:
    """Both halves of each: where a page's end cuts a text in two, one of them is whole."""
    found: dict[bytes, None] = {}
    for needle in of:
        middle = len(needle) // 2
        parts = (needle[:middle], needle[middle:]) if middle >= HALF else (needle,)
        found.update(dict.fromkeys(parts))
    return tuple(found)


def is_in(data: bytes, wanted: Iterable[bytes]) -> bool:
    """Whether one of them is there."""
    return any(needle in data for needle in wanted)
