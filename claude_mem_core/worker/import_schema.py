"""The JSON Schema of an import, as the reader of imports takes it.

The reader checks rows itself, in better words, under all names that a column has had,
and knows times in several forms; this is what the document promises.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from claude_mem_core.store.imports.records import FORMS, Kind
from claude_mem_core.store.text import LATEST_MS
from claude_mem_core.worker.spec import Schema

MOST = 1 << 20  # characters of one text
TEXT: Schema = {"type": ["string", "null"], "maxLength": MOST}
NAME: Schema = {"type": ["string", "null"], "maxLength": 1000}
NUMBER: Schema = {"type": ["integer", "null"], "minimum": 0, "maximum": 2**53 - 1}
TIME: Schema = {"type": ["integer", "null"], "minimum": 0, "maximum": LATEST_MS}
LIST: Schema = {
    "anyOf": [
        {"type": "array", "maxItems": 1000, "items": TEXT},
        TEXT,
    ]
}
METADATA: Schema = {"anyOf": [{"type": ["object", "null"]}, {"enum": [""]}]}
WORDS: Schema = {"type": "string", "pattern": r"\S", "maxLength": MOST}
SESSION_IDS = ("content_session_id", "memory_session_id")
COMMON: dict[str, Schema] = {
    **{name: NAME for name in (*SESSION_IDS, "project", "platform_source")},
    "merged_into_project": NAME,
    "origin_device_id": NAME,
    "session_db_id": NUMBER,
    "metadata": METADATA,
}


def body() -> Schema:
    """An object with at least one list of rows."""
    kinds = [kind for kind in FORMS if kind is not Kind.TOOL]
    lists = {str(kind): _rows(kind) for kind in kinds}
    some = [{"required": [name]} for name in lists]
    return {"type": "object", "properties": lists, "anyOf": some}


def _rows(kind: Kind) -> Schema:
    return {"type": "array", "maxItems": 500_000, "items": {**_row(kind), "x-unchecked": True}}


def _row(kind: Kind) -> dict[str, Any]:
    form = FORMS[kind]
    parts: dict[str, Schema] = dict(COMMON)
    parts |= {names[0]: TEXT for names in form.texts.values()}
    parts |= {names[0]: LIST for names in form.lists.values()}
    parts |= {names[0]: NUMBER for names in form.numbers.values()}
    parts |= {"completed_at_epoch": TIME} if kind is Kind.SESSION else {}
    needed = SESSION_IDS if kind is Kind.SESSION else tuple(form.said)
    return {"type": "object", "properties": parts, "anyOf": list(_needs(needed))}


def _needs(names: Iterable[str]) -> Iterable[Schema]:
    """One of these has to say something."""
    for name in names:
        yield {"properties": {name: WORDS}, "required": [name]}
