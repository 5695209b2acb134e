"""What the journal keeps of an event: everything but what has a table of its own.

Prompts stand in `user_prompts`, what tools read and said in `tool_uses`. Long fields are
cut, with size and hash of the original beside them.
"""

from __future__ import annotations

from typing import Any

import attrs

from claude_mem_core.convert import event_from_json
from claude_mem_core.store import text
from claude_mem_core.types import Event, EventKind, ToolUse

TOOL_ROWS = frozenset({EventKind.TOOL_USED, EventKind.TOOL_FAILED, EventKind.FILE_EDITED})
SURELY_SHORT = text.LIMIT // 4  # characters: four bytes each at most


def _defaults(cls: type[attrs.AttrsInstance]) -> tuple[tuple[str, Any], ...]:
    known = ((field.name, field.default) for field in attrs.fields(cls))
    return tuple((name, {} if isinstance(d, attrs.Factory) else d) for name, d in known)  # type: ignore[arg-type]


EVENT, TOOL = _defaults(Event), _defaults(ToolUse)


def has_tool_row(event: Event) -> bool:
    """Whether the event is the use of a tool that `tool_uses` keeps."""
    return event.tool is not None and event.kind in TOOL_ROWS


def pack(event: Event) -> str:
    """The payload column of an event, read again by `unpack`.

    By hand, in the converter's form: this runs for every event and must be quick.
    """
    plain = _plain(event, EVENT)
    plain.pop("prompt", None)
    if event.tool is not None:
        plain["tool"] = _tool(event.tool, bare=has_tool_row(event))
    cuts = {name: cut for name in ("answer", "error") if (cut := _cut(plain, name))}
    if cuts:
        plain["extra"] = {**event.extra, "cut": cuts}
    return text.dumps(plain)


def unpack(payload: str) -> Event:
    """The event of a payload column, without prompt and without the tool's values.

    Raises:
        InvalidInput: the column holds something else.
    """
    return event_from_json(payload)


def _tool(tool: ToolUse, *, bare: bool) -> dict[str, Any]:
    plain = _plain(tool, TOOL)
    for name in ("input", "output") if bare else ("output",):
        plain.pop(name, None)
    _cut(plain, "error")
    return plain


def _plain(value: Event | ToolUse, fields: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    """The fields that differ from their defaults."""
    plain = {}
    for name, default in fields:
        part = getattr(value, name)
        if part != default:
            plain[name] = part
    return plain


def _cut(plain: dict[str, Any], name: str) -> dict[str, Any] | None:
    """Cut a long field in place; say how long it was."""
    value = plain.get(name)
    if not value or len(value) <= SURELY_SHORT:
        return None
    cut = text.cut(text.safe(value))
    plain[name] = cut.text
    return {"bytes": cut.size, "sha256": cut.hash} if cut.shortened else None
