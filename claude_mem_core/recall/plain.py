"""What a search needs from the tables themselves: times, texts, the newest rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from claude_mem_core.recall import words
from claude_mem_core.recall.documents import KINDS, record_of, rowid_of
from claude_mem_core.recall.feed import TABLES
from claude_mem_core.recall.scoring import Scored
from claude_mem_core.types import DocKind

LOOKED_AT = 2_000  # newest rows of each kind that are read for signs that are no words

_TEXT = {
    DocKind.OBSERVATION: "concat_ws(' ', title, subtitle, narrative, text, facts, concepts,"
    " files_read, files_modified)",
    DocKind.SUMMARY: "concat_ws(' ', request, investigated, learned, completed, next_steps,"
    " notes, files_read, files_edited)",
    DocKind.PROMPT: "prompt_text",
}


def _by_kind(rowids: Iterable[int]) -> dict[DocKind, list[int]]:
    found: dict[DocKind, list[int]] = {kind: [] for kind in KINDS}
    for rowid in rowids:
        kind, record_id = record_of(rowid)
        found[kind].append(record_id)
    return found


def _columns(
    conn: apsw.Connection, rowids: Iterable[int], column: dict[DocKind, str]
) -> dict[int, Any]:
    """One value of each record, by its row in the index."""
    values: dict[int, Any] = {}
    for kind, ids in _by_kind(rowids).items():
        sql = (
            f"SELECT id, {column[kind]} FROM {TABLES[kind]}"
            " WHERE id IN (SELECT value FROM json_each(?))"
        )
        if ids:
            rows = conn.execute(sql, (json.dumps(ids),))
            values.update((rowid_of(kind, record_id), value) for record_id, value in rows)
    return values


def times(conn: apsw.Connection, rowids: Sequence[int]) -> dict[int, int]:
    """When each record was made, in milliseconds."""
    return _columns(conn, rowids, dict.fromkeys(KINDS, "created_at_epoch"))


def by_date(conn: apsw.Connection, rows: Sequence[Scored], *, oldest: bool) -> list[Scored]:
    """Rows by their time; those with every word before the others."""
    made = times(conn, [row.rowid for row in rows])
    sign = 1 if oldest else -1
    there = [row for row in rows if row.rowid in made]
    return sorted(
        there, key=lambda row: (not row.complete, sign * made[row.rowid], sign * row.rowid)
    )


def newest(
    conn: apsw.Connection, kinds: Sequence[DocKind], wanted: int, *, oldest: bool
) -> list[Scored]:
    """The newest (or oldest) records of all."""
    order = "ASC" if oldest else "DESC"
    found: list[Scored] = []
    for kind in kinds:
        sql = f"SELECT id FROM {TABLES[kind]} ORDER BY created_at_epoch {order}, id {order} LIMIT ?"
        rows = conn.execute(sql, (wanted,))
        found += [Scored(rowid_of(kind, i), 0.0, complete=True) for (i,) in rows]
    return by_date(conn, found, oldest=oldest)[:wanted]


def holding(
    conn: apsw.Connection, kinds: Sequence[DocKind], text: str, wanted: int
) -> list[Scored]:
    """Those of the newest records that hold `text` as it stands, newest first."""
    found: list[Scored] = []
    for kind in kinds:
        sql = (
            f"SELECT id FROM (SELECT id, {_TEXT[kind]} AS whole FROM {TABLES[kind]}"
            " ORDER BY id DESC LIMIT ?) WHERE instr(lower(whole), lower(?)) LIMIT ?"
        )
        rows = conn.execute(sql, (max(LOOKED_AT, wanted), text.replace("\0", ""), wanted))
        found += [Scored(rowid_of(kind, i), 0.0, complete=True) for (i,) in rows]
    return by_date(conn, found, oldest=False)[:wanted]


def texts(conn: apsw.Connection, rowids: Sequence[int]) -> dict[int, str]:
    """The whole text of each record in one spelling, its blanks as single spaces."""
    found = _columns(conn, rowids, _TEXT)
    return {rowid: _spelled(text or "") for rowid, text in found.items()}


def _spelled(text: str) -> str:
    return " ".join(words.normal(text[: words.TEXT_LIMIT]).casefold().split())
