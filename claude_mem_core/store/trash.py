"""A deleted memory as a whole, so that it can come back as it was.

It leaves every table, so nothing finds it; what it was made from stays until it is
forgotten for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import apsw

from claude_mem_core.errors import NotFound
from claude_mem_core.store import fetch, personal, text
from claude_mem_core.store.forget import detach, empty_events
from claude_mem_core.types import DocKind

TABLES: Mapping[DocKind, str] = {
    DocKind.OBSERVATION: "observations",
    DocKind.SUMMARY: "session_summaries",
}
EVIDENCE = "SELECT event_id FROM evidence WHERE kind = ? AND memory_id = ?"
FILES = """
  SELECT path, kind, memory_id, project_id, modified, created_at_epoch, name
  FROM memory_files WHERE kind = ? AND memory_id = ?
"""
LONELY = """
  SELECT value FROM json_each(?)
  WHERE NOT EXISTS (SELECT 1 FROM evidence WHERE event_id = value)
"""
LISTED = """
  SELECT id, at_ms, before FROM corrections
  WHERE action = 'delete' AND before IS NOT NULL AND undone_ms IS NULL
  ORDER BY at_ms DESC, id DESC LIMIT ?
"""


def missing(kind: DocKind, number: int) -> NotFound:
    """The error for a memory that is not there."""
    letter = "S" if kind is DocKind.SUMMARY else ""
    return NotFound(f"#{letter}{number} not found; `mem search WORDS` finds what is there")


def take_out(conn: apsw.Connection, kind: DocKind, number: int) -> dict[str, Any]:
    """Remove a memory; what is returned brings it back."""
    table, about = TABLES[kind], (kind.value, number)
    columns = [row[1] for row in fetch.rows(conn, f"PRAGMA table_info({table})")]
    row = fetch.row(conn, f"SELECT * FROM {table} WHERE id = ?", number)
    if row is None:
        raise missing(kind, number)
    older = f"SELECT id FROM {table} WHERE superseded_by = ?"
    uses = "SELECT id FROM tool_uses WHERE observation_id = ?"
    observed = kind is DocKind.OBSERVATION
    whole: dict[str, Any] = {
        "kind": kind.value,
        "row": dict(zip(columns, row, strict=True)),
        "evidence": [r[0] for r in fetch.rows(conn, EVIDENCE, *about)],
        "files": [list(r) for r in fetch.rows(conn, FILES, *about)],
        "older": [r[0] for r in fetch.rows(conn, older, number)],
        "uses": [r[0] for r in fetch.rows(conn, uses, number)] if observed else [],
        "pin": list(fetch.row(conn, "SELECT * FROM pins WHERE kind = ? AND record_id = ?", *about) or ()),
    }
    conn.execute("DELETE FROM pins WHERE kind = ? AND record_id = ?", about)
    said = "SELECT useful, outdated, at_ms FROM feedback WHERE memory_id = ?"
    whole["feedback"] = list(fetch.row(conn, said, number) or ()) if observed else []
    whole["personal"] = personal.remove(conn, kind.value, number)
    detach(conn, kind.value, number, ())
    conn.execute(f"DELETE FROM {table} WHERE id = ?", (number,))
    return whole


def put_back(conn: apsw.Connection, whole: Mapping[str, Any]) -> None:
    """Bring a memory back with everything that hung on it."""
    kind, row = DocKind(whole["kind"]), whole["row"]
    table, number = TABLES[kind], row["id"]
    marks = ", ".join("?" * len(row))
    conn.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    link = "INSERT OR IGNORE INTO evidence VALUES (?, ?, ?)"
    conn.executemany(link, [(kind.value, number, event) for event in whole["evidence"]])
    file = "INSERT OR IGNORE INTO memory_files VALUES (?, ?, ?, ?, ?, ?, ?)"
    conn.executemany(file, [tuple(values) for values in whole["files"]])
    gone = f"UPDATE {table} SET superseded_by = ? WHERE id = ? AND superseded_by IS NULL"
    conn.executemany(gone, [(number, older) for older in whole["older"]])
    used = "UPDATE tool_uses SET observation_id = ? WHERE id = ? AND observation_id IS NULL"
    conn.executemany(used, [(number, use) for use in whole["uses"]])
    if whole["pin"]:
        conn.execute("INSERT OR IGNORE INTO pins VALUES (?, ?, ?, ?)", tuple(whole["pin"]))
    if whole.get("feedback"):
        conn.execute("INSERT INTO feedback VALUES (?, ?, ?, ?)", (number, *whole["feedback"]))
    if whole.get("personal") is not None:
        personal.put_back(conn, number, whole["personal"], row["created_at_epoch"])


def forget(conn: apsw.Connection, whole: Mapping[str, Any]) -> None:
    """What a memory was made from goes too, as far as no other memory rests on it."""
    events = text.dumps(whole.get("evidence", []))
    empty_events(conn, [row[0] for row in fetch.rows(conn, LONELY, events)])


def listed(conn: apsw.Connection, limit: int) -> list[dict[str, Any]]:
    """What can be brought back, newest first: its row, the undo number, when it went."""
    found = fetch.rows(conn, LISTED, limit)
    return [
        {"undo": number, "deleted_ms": at_ms, **text.loads_map(before)}
        for number, at_ms, before in found
    ]
