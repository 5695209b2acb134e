"""What of a record is turned into a vector, and the record's marks for filters."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import apsw
import attrs

from claude_mem_core.types import DocKind

KIND_BITS = 48
KINDS = (DocKind.OBSERVATION, DocKind.SUMMARY, DocKind.PROMPT)
TABLES = {
    DocKind.OBSERVATION: "observations",
    DocKind.SUMMARY: "session_summaries",
    DocKind.PROMPT: "user_prompts",
}
LONGEST = 4_000  # characters

_SELECT = {
    DocKind.OBSERVATION: """
      SELECT id, project_id, created_at_epoch, platform_source, type,
        concat_ws('. ', title, subtitle, narrative, text), facts
      FROM observations WHERE id IN (SELECT value FROM json_each(?))""",
    DocKind.SUMMARY: """
      SELECT id, project_id, created_at_epoch, platform_source, '',
        concat_ws('. ', request, learned, completed, investigated, next_steps, notes), NULL
      FROM session_summaries WHERE id IN (SELECT value FROM json_each(?))""",
    DocKind.PROMPT: """
      SELECT id, project_id, created_at_epoch, platform_source, '', prompt_text, NULL
      FROM user_prompts WHERE id IN (SELECT value FROM json_each(?))""",
}


@attrs.frozen
class Text:
    """One record: its number in the table of vectors, its text, and what filters ask for."""

    number: int
    project_id: int
    created_ms: int
    host: str
    type: str
    text: str


def number_of(kind: DocKind, record_id: int) -> int:
    """The number of a record over all kinds."""
    return (KINDS.index(kind) << KIND_BITS) + record_id


def record_of(number: int) -> tuple[DocKind, int]:
    """The record that has a number."""
    return KINDS[number >> KIND_BITS], number & ((1 << KIND_BITS) - 1)


def bounds(kind: DocKind) -> tuple[int, int]:
    """The first and last possible number of a kind."""
    first = KINDS.index(kind) << KIND_BITS
    return first, first + (1 << KIND_BITS) - 1


def texts(conn: apsw.Connection, numbers: Sequence[int]) -> list[Text]:
    """The records that are still there."""
    found: list[Text] = []
    for kind in KINDS:
        first, last = bounds(kind)
        ids = [number - first for number in numbers if first <= number <= last]
        if ids:
            rows = conn.execute(_SELECT[kind], (json.dumps(ids),))
            found += [_text(kind, row) for row in rows]
    return found


def _text(kind: DocKind, row: Sequence[Any]) -> Text:
    record_id, project_id, created_ms, host, type_, text, facts = row
    whole = ". ".join([text or "", *_list(facts)])
    return Text(
        number_of(kind, record_id), project_id, created_ms, host, type_, whole[:LONGEST]
    )


def _list(facts: str | None) -> Iterator[str]:
    try:
        values = json.loads(facts or "[]")
    except ValueError:
        return
    yield from (value for value in values if isinstance(value, str))
