"""One memory with everything around it: its words, what it came from, where it went."""

from __future__ import annotations

from typing import Any

import apsw

from claude_mem_core.store import cards, feedback, fetch, personal, text
from claude_mem_core.store.rows import shown
from claude_mem_core.store.trash import TABLES, missing
from claude_mem_core.types import DocKind

MOST = 200
WORDS_CHARS = 2_000  # of a prompt that is shown as evidence
ARGUMENT_CHARS = 200
FIELDS = {
    DocKind.OBSERVATION: ("title", "subtitle", "narrative", "facts", "concepts", "files_read",
                          "files_modified", "text"),
    DocKind.SUMMARY: ("request", "investigated", "learned", "completed", "next_steps", "notes",
                      "files_read", "files_edited"),
}  # fmt: skip
LISTS = {"facts", "concepts", "files_read", "files_modified", "files_edited"}
ABOUT = """
  SELECT session_db_id, prompt_number, generated_by_model, discovery_tokens, trust,
    project_id FROM {table} WHERE id = ?
"""
PROMPT = f"""
  SELECT p.id, p.prompt_number, substr(p.prompt_text, 1, {WORDS_CHARS}), length(p.prompt_text),
    p.created_at_epoch
  FROM user_prompts p WHERE p.session_db_id = ? AND p.prompt_number = ?
"""
TOOLS = f"""
  SELECT t.id, t.tool_name, substr(t.tool_input, 1, 4 * {ARGUMENT_CHARS}), t.failed,
    t.created_at_epoch
  FROM evidence v JOIN tool_uses t ON t.event_id = v.event_id
  WHERE v.kind = ? AND v.memory_id = ? ORDER BY t.id LIMIT {MOST}
"""
COUNT = "SELECT count(*) FROM evidence WHERE kind = ? AND memory_id = ?"
USES = f"""
  SELECT g.session_db_id, g.what, g.at_ms, {shown('s.project')}, s.platform_source
  FROM context_given g LEFT JOIN sdk_sessions s ON s.id = g.session_db_id
  WHERE instr(g.ids, ?)
  ORDER BY g.at_ms DESC LIMIT {MOST}
"""
VERIFY = "SELECT reason FROM verify_marks WHERE memory_id = ?"
VERSIONS = """
  SELECT id, at_ms, action, before FROM corrections
  WHERE kind = ? AND record_id = ? AND undone_ms IS NULL ORDER BY id DESC LIMIT 50
"""


def detail(conn: apsw.Connection, kind: DocKind, number: int) -> dict[str, Any]:
    """All there is to say of a memory.

    Raises:
        NotFound: there is none of that id.
    """
    found = cards.cards(conn, [(kind, number)])
    about = fetch.row(conn, ABOUT.format(table=TABLES[kind]), number)
    if not found or about is None:
        raise missing(kind, number)
    session, prompt, model, tokens, trust, _ = about
    key = found[0]["key"]
    return {
        **found[0],
        "fields": _fields(conn, kind, number),
        "session": session, "prompt_number": prompt, "model": model or "", "tokens": tokens,
        "trust": trust,
        "replaces": _older(conn, kind, number),
        "prompt": _prompt(conn, session, prompt),
        "tools": _tools(conn, kind, number),
        "events": fetch.value(conn, COUNT, kind.value, number),
        "uses": _uses(conn, key),
        "changes": _changes(conn, kind, number),
        **(_said(conn, number) if kind is DocKind.OBSERVATION else {}),
    }  # fmt: skip


def _said(conn: apsw.Connection, number: int) -> dict[str, Any]:
    """What people say of an observation, and what speaks for looking at it again."""
    said = feedback.of(conn, number)
    return {
        "useful": said.useful, "outdated": said.outdated,
        "verify": fetch.value(conn, VERIFY, number) or "",
        "personal": number in personal.ids(conn),
    }  # fmt: skip


def _fields(conn: apsw.Connection, kind: DocKind, number: int) -> dict[str, Any]:
    names = FIELDS[kind]
    row = fetch.row(conn, f"SELECT {', '.join(names)} FROM {TABLES[kind]} WHERE id = ?", number)
    found: dict[str, Any] = {
        name: list(text.loads_list(value)) if name in LISTS else value or ""
        for name, value in zip(names, row or (), strict=True)
    }
    if kind is DocKind.OBSERVATION:
        found["narrative"] = found["narrative"] or found.pop("text")
        found.pop("text", None)
    return found


def _older(conn: apsw.Connection, kind: DocKind, number: int) -> list[dict[str, Any]]:
    sql = f"""SELECT id FROM {TABLES[kind]} WHERE superseded_by = ? AND superseded_by IS NOT NULL
      ORDER BY id DESC LIMIT {MOST}"""
    return cards.cards(conn, [(kind, row[0]) for row in fetch.rows(conn, sql, number)])


def _prompt(conn: apsw.Connection, session: int | None, number: int | None) -> Any:
    row = fetch.row(conn, PROMPT, session, number)
    if row is None:
        return None
    names = ("id", "number", "text", "length", "t")
    return dict(zip(names, row, strict=True))


def _tools(conn: apsw.Connection, kind: DocKind, number: int) -> list[dict[str, Any]]:
    return [
        {"id": use, "tool": name, "argument": _argument(given), "failed": bool(failed), "t": at_ms}
        for use, name, given, failed, at_ms in fetch.rows(conn, TOOLS, kind.value, number)
    ]


def _argument(given: str | None) -> str:
    """The one input that says what a tool was asked: a file, a command, a pattern."""
    values = text.loads_map(given)
    names = ("file_path", "path", "command", "pattern", "query", "url", "description")
    said = next((values[name] for name in names if values.get(name)), None)
    if said is None:
        said = next((v for v in values.values() if isinstance(v, str)), given or "")
    return " ".join(str(said).split())[:ARGUMENT_CHARS]


def _uses(conn: apsw.Connection, key: str) -> list[dict[str, Any]]:
    names = ("session", "what", "t", "project", "host")
    return [dict(zip(names, row, strict=True)) for row in fetch.rows(conn, USES, f'"{key}"')]


def _changes(conn: apsw.Connection, kind: DocKind, number: int) -> list[dict[str, Any]]:
    """What people did to it, newest first; of an edit with the words before it."""
    return [_change(*row) for row in fetch.rows(conn, VERSIONS, kind.value, number)]


def _change(undo: int, at_ms: int, action: str, before: str | None) -> dict[str, Any]:
    words = text.loads_map(before) if action == "edit" else {}
    merged = words.pop("merged", None)  # a merge is an edit that another memory gave way to
    return {"undo": undo, "t": at_ms, "action": "merge" if merged else action, "before": words}
