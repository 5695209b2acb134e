"""Rows of the tables as documents of the word index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import apsw
import attrs

from claude_mem_core.recall import words
from claude_mem_core.store.text import loads_list
from claude_mem_core.types import DocKind

KIND_BITS = 48
KINDS = (DocKind.OBSERVATION, DocKind.SUMMARY, DocKind.PROMPT)

_SELECT = {
    DocKind.OBSERVATION: """
      SELECT id, title, subtitle, coalesce(narrative, '') || ' ' || coalesce(text, ''),
        facts, concepts, files_read, files_modified, project_id, type, platform_source,
        created_at_epoch, superseded_by,
        EXISTS (SELECT 1 FROM personal WHERE memory_id = observations.id)
      FROM observations WHERE id IN ({})""",
    DocKind.SUMMARY: """
      SELECT id, request, '', concat_ws(' ', investigated, completed),
        concat_ws(' ', learned, next_steps, notes), '', files_read, files_edited,
        project_id, '', platform_source, created_at_epoch, superseded_by, 0
      FROM session_summaries WHERE id IN ({})""",
    DocKind.PROMPT: """
      SELECT id, '', '', prompt_text, '', '', '', '', project_id, '', platform_source,
        created_at_epoch, NULL, 0
      FROM user_prompts WHERE id IN ({})""",
}


@attrs.frozen
class Document:
    """One record as the index takes it; `columns` in the order of the table."""

    rowid: int
    columns: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it but the scope."""
        return "\n".join(self.columns[:-1])


def rowid_of(kind: DocKind, record_id: int) -> int:
    """The row of the index that stands for a record."""
    return (KINDS.index(kind) << KIND_BITS) + record_id


def record_of(rowid: int) -> tuple[DocKind, int]:
    """The record that a row of the index stands for."""
    return KINDS[rowid >> KIND_BITS], rowid & ((1 << KIND_BITS) - 1)


def bounds(kind: DocKind) -> tuple[int, int]:
    """First and last possible row of a kind."""
    first = KINDS.index(kind) << KIND_BITS
    return first, first + (1 << KIND_BITS) - 1


def documents(conn: apsw.Connection, kind: DocKind, ids: Sequence[int]) -> Iterator[Document]:
    """The documents of those `ids` that are still in the tables."""
    sql = _SELECT[kind].format(",".join("?" * len(ids)))
    for row in conn.execute(sql, tuple(ids)):
        yield _document(kind, row)


def _document(kind: DocKind, row: Sequence[Any]) -> Document:
    record_id, title, subtitle, narrative, facts, concepts, read, modified, *rest = row
    project_id, type_, host, created_ms, superseded_by, personal = rest
    concept_list = loads_list(concepts)
    lists = kind is not DocKind.SUMMARY
    fields = [
        title or "",
        subtitle or "",
        narrative or "",
        " ".join(loads_list(facts)) if lists else facts,
        " ".join(concept_list),
        " ".join(dict.fromkeys(loads_list(read) + loads_list(modified))),
    ]
    texts = [words.normal(field[: words.TEXT_LIMIT]) for field in fields]
    columns = (*map(words.spaced, texts), words.idents("\n".join(texts)))
    scope = _scope(project_id, type_, host, created_ms, concept_list, superseded_by)
    scope += f" {words.scope('u', 1)}" if personal else ""
    return Document(rowid_of(kind, record_id), (*columns, scope))


def _scope(
    project_id: int,
    type_: str,
    host: str,
    created_ms: int,
    concepts: Iterable[str],
    superseded_by: int | None,
) -> str:
    tokens = [words.scope("p", project_id), words.scope("h", host), *day_tokens(created_ms)]
    if type_:
        tokens.append(words.scope("t", type_))
    tokens += [words.scope("c", concept) for concept in concepts]
    if superseded_by is not None:
        tokens.append(words.scope("s", 1))
    return " ".join(tokens)


def day_tokens(at_ms: int) -> tuple[str, str, str]:
    """Tokens of the year, month and day (UTC) of a time."""
    day = utc_day(at_ms)
    return words.scope("y", day[:4]), words.scope("m", day[:6]), words.scope("d", day)


def utc_day(at_ms: int) -> str:
    """`YYYYMMDD` of a time; times outside the calendar go to its ends."""
    seconds = min(max(at_ms, 0), 253_402_300_799_000) // 1000
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%d")
