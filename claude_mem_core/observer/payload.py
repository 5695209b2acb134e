"""JSON values of hosts as text, and fields under the names that hosts give them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from claude_mem_core.types import ToolUse

DEPTH = 6
MOST_CHARS = 400_000
RESULT = (
    "stdout", "stderr", "output", "content", "contents", "result", "text", "llmContent",
    "returnDisplay", "message", "error", "matches", "body", "data", "answer", "head", "tail",
    "results",
)  # fmt: skip
NUMBERED = re.compile(r"^\s*\d+(?:\t|→|\s?\|\s?)", re.MULTILINE)


def parsed(value: Any) -> Any:
    """A JSON text as its value; anything else as it is."""
    if not isinstance(value, str) or value[:1] not in "{[":
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def first(given: Mapping[str, Any], keys: Sequence[str]) -> str:
    for key in keys:
        value = given.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return ""


def text_of(tool: ToolUse, output: Any) -> str:
    text = tool.error if isinstance(tool.error, str) and tool.error else _result(output)
    text = text[:MOST_CHARS]
    head = text[:200]
    return NUMBERED.sub("", text) if NUMBERED.match(head) and "\n" in text else text


def _result(output: Any) -> str:
    if isinstance(output, Mapping):
        inner = output.get("file")
        if isinstance(inner, Mapping):
            return strings(inner.get("content", ""))
        found = [strings(output[k]) for k in RESULT if output.get(k)]
        names = output.get("filenames")
        listed = "\n".join(map(str, names)) if isinstance(names, list) else ""
        return "\n".join(dict.fromkeys(t for t in (*found, listed) if t))
    return strings(output)


def strings(value: Any, depth: int = 0) -> str:
    """All texts in a JSON value, one a line, but no ids or types."""
    if isinstance(value, str):
        return value
    if depth > DEPTH or value is None or isinstance(value, bool):
        return ""
    if isinstance(value, Mapping):
        parts = [strings(v, depth + 1) for k, v in value.items() if k not in ("type", "id")]
    elif isinstance(value, list | tuple):
        parts = [strings(v, depth + 1) for v in value]
    else:
        return str(value)
    return "\n".join(p for p in parts if p)
