"""The tables of claude-mem, from version 3 on: told apart by the columns they have."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from claude_mem_core.errors import InvalidInput
from claude_mem_core.store.imports import source
from claude_mem_core.store.imports.form import Reader
from claude_mem_core.store.imports.records import FORMS, Kind, same
from claude_mem_core.store.imports.staging import Staged
from claude_mem_core.store.imports.values import Lenient

if TYPE_CHECKING:
    from claude_mem_core.clean.cleaner import Cleaner

NAME = "claude-mem"  # in the origin columns
IDS = {
    "content_session_id": ("content_session_id", "claude_session_id"),
    "memory_session_id": ("memory_session_id", "sdk_session_id"),
}
COMMON = {
    **IDS, **same("id", "project", "platform_source", "session_db_id", "merged_into_project",
                  "metadata", "origin_device_id", "origin_local_id"),
    "created_at_epoch": ("created_at_epoch", "started_at_epoch"),
    "created_at": ("created_at", "started_at"),
}  # fmt: skip


@attrs.frozen
class Table:
    """A table and what becomes of its rows.

    Attributes:
        wanted: values to read, each with the columns that may hold it.
        prefix: put before its numbers, so that two tables don't share them.
        fixed: values that all its rows have.
    """

    name: str
    kind: Kind
    wanted: Mapping[str, tuple[str, ...]]
    prefix: str = ""
    fixed: Mapping[str, Any] = attrs.field(factory=dict)


def _all(kind: Kind) -> dict[str, tuple[str, ...]]:
    form = FORMS[kind]
    columns = {**form.texts, **form.lists, **form.numbers}
    return {**{names[0]: names for names in columns.values()}, **COMMON}


# Version 3 knew a session by one id.
V3 = {**COMMON, "content_session_id": ("session_id",), "memory_session_id": ("session_id",)}

TABLES = (
    Table("sdk_sessions", Kind.SESSION, _all(Kind.SESSION)),
    Table("streaming_sessions", Kind.SESSION, _all(Kind.SESSION), "streaming-"),
    Table(
        "sessions", Kind.SESSION,
        {**V3, **same("user_prompt"), "custom_title": ("custom_title", "title")}, "v3-",
    ),
    Table("session_summaries", Kind.SUMMARY, _all(Kind.SUMMARY)),
    Table("overviews", Kind.SUMMARY, {**V3, "completed": ("content",)}, "v3-"),
    Table("observations", Kind.OBSERVATION, _all(Kind.OBSERVATION)),
    Table(
        "memories", Kind.OBSERVATION,
        {**V3, **same("title", "subtitle", "text", "facts"), "concepts": ("concepts", "keywords"),
         "files_modified": ("files_touched",)},
        "v3-", {"type": "discovery"},
    ),
    Table("user_prompts", Kind.PROMPT, _all(Kind.PROMPT)),
    Table("tool_uses", Kind.TOOL, _all(Kind.TOOL)),
)  # fmt: skip
# Work that was never done, and records of the program itself: nothing to remember.
LEFT_OUT = (
    "pending_messages", "observation_queue", "transcript_events", "diagnostics",
    "sync_outbox", "sync_content_outbox",
)  # fmt: skip


def read_claude_mem(path: Path, work: Path, cleaner: Cleaner) -> Staged:
    """Stage what a database of claude-mem holds; the database itself is left untouched.

    `work` is a private folder with room for a copy of it.

    Raises:
        InvalidInput: it is not one, it is damaged, or it is too large.
        CleaningFailed: a redactor failed; nothing may be kept.
    """
    staged = Staged()
    path = Path(os.path.realpath(path))  # its log lies beside the file itself
    try:
        with source.opened(path, work) as opened:
            _read(opened, path, Reader(staged, Lenient(), cleaner), staged)
    except BaseException:
        staged.close()
        raise
    return staged


def _read(opened: source.Source, path: Path, reader: Reader, staged: Staged) -> None:
    here = [table for table in TABLES if table.name in opened.tables]
    if not any(table.kind in {Kind.OBSERVATION, Kind.SESSION} for table in here):
        raise InvalidInput(f"{path} holds none of the tables of claude-mem")
    for table in here:
        reader.take(table.kind, _rows(opened, table))
    for name in LEFT_OUT:
        if name in opened.tables and (count := opened.count(name)):
            staged.left_out[name] = count
    if opened.too_large:
        staged.left_out["rows over 10 MB"] = opened.too_large


def _rows(opened: source.Source, table: Table) -> Iterator[dict[str, Any]]:
    for row in opened.rows(table.name, table.wanted):
        if row.get("id"):
            row["id"] = f"{table.prefix}{row['id']}"
        yield {**row, **table.fixed}
