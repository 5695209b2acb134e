"""Fields of events as a model may see them: cut, without binary, without tags of ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HEAD, TAIL = 0.6, 0.3  # shares of what is kept of a cut text
ENCODED = re.compile(r"[A-Za-z0-9+/_-]{400,}={0,2}")
ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)?|\x1b")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")
# What a text may not contain, or it could pass for a part of the request or of a reply.
OURS = re.compile(
    r"<(?=\s*/?\s*(?:observations?|summary|skip_summary|events?|tool|said|asked|earlier|stored"
    r"|elided|omitted)\b)",
    re.IGNORECASE,
)
BLANKS = re.compile(r"[ \t]+(?=\n)|\n{3,}")
DEPTH = 6


def shown(text: str, limit: int) -> str:
    """A text for the request: bounded, printable, and no part of our own form."""
    text = ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    text = OURS.sub("&lt;", CONTROL.sub("", text))
    text = BLANKS.sub(lambda found: "\n\n" if "\n" in found[0] else "", text).strip()
    return cut(ENCODED.sub(_omitted, text), limit)


def cut(text: str, limit: int) -> str:
    """`text` with its middle left out, and a mark that says how much, where it is too long."""
    if len(text) <= limit:
        return text
    head, tail = int(limit * HEAD), int(limit * TAIL)
    left_out = len(text) - head - tail
    return f'{text[:head]}\n<elided chars="{left_out}"/>\n{text[-tail:]}'


def _omitted(found: re.Match[str]) -> str:
    kind = "base64" if re.search(r"[A-Z].*[a-z]|[a-z].*[A-Z]", found[0][:400]) else "data"
    return f'<omitted {kind}="{len(found[0])} characters"/>'


def flat(value: Any, depth: int = 0) -> str:
    """A JSON value as text: strings as they are, the rest as `key: value` lines."""
    if isinstance(value, str):
        return value
    if value is None or depth > DEPTH:
        return ""
    if isinstance(value, Mapping):
        parts = [_entry(str(key), part, depth) for key, part in value.items()]
        return "\n".join(part for part in parts if part)
    if isinstance(value, list | tuple):
        return "\n".join(part for part in (flat(item, depth + 1) for item in value) if part)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _entry(key: str, value: Any, depth: int) -> str:
    text = flat(value, depth + 1)
    if not text:
        return ""
    return f"{key}: {text}" if "\n" not in text else f"{key}:\n{text}"
