"""Why memories came to a session: the rule or the words that brought each of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import apsw

from claude_mem_core.store import fetch
from claude_mem_core.store.rows import shown

KEPT = 2_000  # newest entries
QUERY_CHARS = 400
ADD = """
  INSERT INTO given_log (at_ms, session_db_id, what, query, reasons) VALUES (?, ?, ?, ?, ?)
"""
OF = f"""
  SELECT g.at_ms, g.what, coalesce(nullif(g.query, ''), substr(p.prompt_text, 1, {QUERY_CHARS}), ''),
    json_extract(g.reasons, ?1), g.session_db_id, s.content_session_id, s.platform_source,
    {shown('s.project')}
  FROM given_log g LEFT JOIN sdk_sessions s ON s.id = g.session_db_id
  LEFT JOIN user_prompts p ON p.session_db_id = g.session_db_id
    AND g.what = 'prompt:' || p.prompt_number
  WHERE json_type(g.reasons, ?1) IS NOT NULL ORDER BY g.id DESC LIMIT ?2
"""
NAMES = ("at_ms", "what", "query", "reason", "session_db_id", "session", "host", "project")


def note(
    conn: apsw.Connection, session_db_id: int, what: str, reasons: Mapping[str, str], now: int,
    query: str = "",
) -> None:  # fmt: skip
    """Keep what was given, with the reason for each memory; old entries go.

    `what`: `start:SOURCE`, `prompt:NUMBER`, `file:PATH`, `mcp:CLIENT`, `search:CLIENT`, `api`.
    """
    if not reasons:
        return
    values = (now, session_db_id, what, query[:QUERY_CHARS], json.dumps(dict(reasons)))
    conn.execute(ADD, values)
    sql = "DELETE FROM given_log WHERE id <= ?"
    conn.execute(sql, (conn.last_insert_rowid() - KEPT,))


def of(conn: apsw.Connection, key: str, limit: int) -> list[dict[str, Any]]:
    """Where and why the memory of this key was given, newest first."""
    rows = fetch.rows(conn, OF, f'$."{key}"', limit)
    return [dict(zip(NAMES, row, strict=True)) for row in rows]
