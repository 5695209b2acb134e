"""One event as the model reads it, and everything that stands in it to check replies by."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from claude_mem_core.modelled.fields import flat, shown
from claude_mem_core.store import text
from claude_mem_core.types import Event, EventKind, StoredEvent

SPOKEN = 4_000  # characters of a prompt or an answer
NOTED = 600  # characters of what only frames the work, as a file before an edit
# Of a tool's output: what its input says already, and what says nothing.
FRAMING = frozenset({"originalFile", "structuredPatch", "original", "oldContent"})
SILENT = frozenset({"interrupted", "isImage", "noOutputExpected", "userModified", "type"})


def told(stored: StoredEvent, limit: int, root: str) -> str:
    """An event as text; empty when it says nothing."""
    event = stored.event
    if event.kind is EventKind.PROMPT_SENT:
        day = f' on="{text.day(event.at_ms)}"' if event.at_ms else ""
        # A command's slash would read as an order to a program.
        return _block("asked", shown(event.prompt or "", SPOKEN).removeprefix("/"), day)
    if event.tool is not None:
        return _tool(event, limit, root)
    words = event.answer or event.error or ""
    by = {EventKind.SUBAGENT_ENDED: "sub-agent", EventKind.COMPACTED: "compaction"}
    who = by.get(event.kind, "error" if event.error and not event.answer else "agent")
    return _block("said", shown(words, SPOKEN), f' by="{who}"')


def _block(name: str, text: str, attributes: str = "") -> str:
    return f"<{name}{attributes}>\n{text}\n</{name}>" if text else ""


def _tool(event: Event, limit: int, root: str) -> str:
    tool = event.tool
    assert tool is not None
    failed = event.kind is EventKind.TOOL_FAILED or tool.error is not None
    marks = ' failed="yes"' if failed else ""
    marks += ' interrupted="yes"' if tool.is_interrupt else ""
    if event.cwd and event.cwd != root:
        marks += f' in="{shown(event.cwd, 200)}"'
    used = _input(tool.input)
    parts = [shown(flat(used), limit), _output(tool.output, used, limit)]
    parts.append(shown(f"error: {tool.error}", limit) if tool.error else "")
    name = shown(tool.name, 100).replace('"', "'")
    return _block("tool", "\n".join(part for part in parts if part), f' name="{name}"{marks}')


def _input(value: Any) -> Any:
    """The input without the agent's notes to itself."""
    value = _parsed(value)
    if isinstance(value, Mapping):
        return {key: part for key, part in value.items() if part not in ("", False, None)}
    return value


def _output(value: Any, used: Any, limit: int) -> str:
    value = _parsed(value)
    said = flat(used)
    if isinstance(value, Mapping):
        kept = {
            key: _framed(key, part, said) for key, part in value.items() if key not in SILENT
        }
        value = {key: part for key, part in kept.items() if part not in ("", None)}
        if len(value) == 1:
            (value,) = value.values()
    told = shown(flat(value), limit)
    return f"-> {told}" if told else ""


def _framed(key: str, value: Any, said: str) -> Any:
    """A field of an output: not once more what the input has, little of what only frames."""
    if isinstance(value, str) and len(value) > 3 and value in said:
        return ""
    if key in FRAMING:
        return shown(flat(value), NOTED)
    return value


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in "{[":
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def everything(event: Event) -> str:
    """All text of an event, uncut: what a reply may name must stand in here."""
    tool = event.tool
    parts = [event.prompt or "", event.answer or "", event.error or "", event.cwd]
    if tool is not None:
        parts += [tool.name, flat(_parsed(tool.input)), flat(_parsed(tool.output))]
        parts.append(tool.error or "")
    return "\n".join(part for part in parts if part)
