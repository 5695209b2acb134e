"""Answers of bounded size, harmless in a prompt."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from claude_mem_core.mcp.texts import DATA
from claude_mem_core.render import FENCE_TAG, fence, for_json

ANSWER_CHARS = 40_000  # of an index or of full texts: about 10,000 tokens
RECORD_CHARS = 12_000
RAW_CHARS = 90_000  # of raw tool uses; Claude Code cuts at 25,000 tokens


def framed(text: str, fence_id: str, most: int = ANSWER_CHARS) -> str:
    """Rendered text in our fence, cut at a line's end where it is too long."""
    return fence(f"{DATA}\n{cut(text, most)}", fence_id)


def cut(text: str, most: int) -> str:
    """At most `most` characters, ending with a line that says what is missing."""
    if len(text) <= most:
        return text
    kept = text[:most]
    kept = kept[: kept.rfind("\n")] if "\n" in kept[most // 2 :] else kept
    return (
        f"{kept}\n(cut here: {len(text) - len(kept):,} more characters; ask for less at once)"
    )


def fitted(texts: Iterable[tuple[str, str]], most: int = ANSWER_CHARS) -> tuple[str, list[str]]:
    """As many texts as fit, one blank line between them; keys of those left out."""
    kept: list[str] = []
    left: list[str] = []
    for key, text in texts:
        whole = cut(text, RECORD_CHARS)
        if left or most < len(whole) + 2:
            left.append(key)
            continue
        most -= len(whole) + 2
        kept.append(whole)
    return "\n\n".join(kept), left


def raw(rows: Sequence[Mapping[str, Any]], fence_id: str) -> tuple[list[str], list[str]]:
    """Rows as JSON that keeps every character and closes no fence; keys of those left out.

    The first row is always given: where it is too long, its texts are shortened.
    """
    kept: list[str] = []
    left: list[str] = []
    room = RAW_CHARS
    for row in rows:
        text = _json(row, fence_id)
        if not kept and len(text) > room:
            text = _json({k: _short(v, room // 4) for k, v in row.items()}, fence_id)
        if left or len(text) > room:
            left.append(str(row["id"]))
            continue
        room -= len(text) + 1
        kept.append(text)
    return kept, left


def _json(row: Mapping[str, Any], fence_id: str) -> str:
    """Words of the fence inside of it would be taken out, so they are escaped."""
    text = for_json(json.dumps(row, ensure_ascii=False))
    for word in (FENCE_TAG, fence_id):
        if word:
            text = text.replace(word, f"\\u{ord(word[0]):04x}{word[1:]}")
    return text


def _short(value: Any, most: int) -> Any:
    if not isinstance(value, str) or len(value) <= most:
        return value
    return f"{value[:most]} ...[cut here: {len(value) - most} more characters]"
