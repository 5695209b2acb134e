"""Memories as a list shows them: one line each, whatever they hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from claude_mem_core.store import fetch, text
from claude_mem_core.store.rows import PROJECT
from claude_mem_core.types import DocKind

TITLE_CHARS = 300
LETTERS = {DocKind.OBSERVATION: "", DocKind.SUMMARY: "S"}
Key = tuple[DocKind, int]
CARDS = {
    DocKind.OBSERVATION: f"""
      SELECT id, type, substr(coalesce(nullif(title, ''), subtitle, narrative, text, ''), 1,
        {TITLE_CHARS}), {PROJECT}, platform_source, created_at_epoch, superseded_by, trust,
        sync_rev, agent_id,
        EXISTS (SELECT 1 FROM verify_marks WHERE memory_id = id)
      FROM observations WHERE id IN (SELECT value FROM json_each(?))""",
    DocKind.SUMMARY: f"""
      SELECT id, 'summary', substr(coalesce(nullif(completed, ''), nullif(learned, ''), request,
        ''), 1, {TITLE_CHARS}), {PROJECT}, platform_source, created_at_epoch, superseded_by,
        trust, sync_rev, NULL, 0
      FROM session_summaries WHERE id IN (SELECT value FROM json_each(?))""",
}
PINS = """
  SELECT record_id FROM pins WHERE kind = ? AND record_id IN (SELECT value FROM json_each(?))
"""


def key_text(kind: DocKind, number: int) -> str:
    """`12` an observation, `S4` a summary."""
    return f"{LETTERS[kind]}{number}"


def cards(conn: apsw.Connection, keys: Sequence[Key]) -> list[dict[str, Any]]:
    """The cards of these memories, in that order; missing ones are left out."""
    found: dict[Key, dict[str, Any]] = {}
    for kind, sql in CARDS.items():
        ids = text.dumps([number for k, number in keys if k is kind])
        pinned = {row[0] for row in fetch.rows(conn, PINS, kind.value, ids)}
        for row in fetch.rows(conn, sql, ids):
            found[kind, row[0]] = card(kind, row, pinned=row[0] in pinned)
    return [found[key] for key in keys if key in found]


def card(kind: DocKind, row: Sequence[Any], *, pinned: bool = False) -> dict[str, Any]:
    """One card from a row of `CARDS`."""
    number, type_, title, project, host, at_ms, superseded, trust, rev, agent, *marked = row
    return {
        "key": key_text(kind, number), "type": type_, "title": title, "project": project,
        "host": host, "t": at_ms, "rev": int(rev) if str(rev).isdigit() else 1,
        "flags": list(flags(superseded, pinned=pinned, foreign=trust == "foreign",
                            verify=any(marked))),
        "replaced_by": key_text(kind, superseded) if superseded else None,
        "agent": agent,
    }  # fmt: skip


def flags(
    superseded: int | None, *, pinned: bool, foreign: bool, verify: bool = False
) -> Iterable[str]:
    """What a person should see of a memory before its words."""
    if pinned:
        yield "pinned"
    if superseded == 0:
        yield "wrong"
    elif superseded:
        yield "replaced"
    if foreign:
        yield "foreign"
    if verify:
        yield "verify"
