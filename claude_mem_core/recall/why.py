"""Why a memory is there and where it went: its evidence, and who was given it."""

from __future__ import annotations

from typing import Any

import apsw
import attrs

from claude_mem_core.errors import NotFound
from claude_mem_core.recall.records import Key, key_of, load
from claude_mem_core.store import feedback, fetch, given_log, personal
from claude_mem_core.store.rows import shown
from claude_mem_core.types import DocKind

MOST = 200
_EVIDENCE = """
  SELECT e.id, e.at_ms, e.kind, e.host, e.session, e.prompt_number, e.trust, e.state,
    t.tool_name, t.tool_use_id
  FROM evidence v JOIN events e ON e.id = v.event_id LEFT JOIN tool_uses t ON t.event_id = e.id
  WHERE v.kind = ? AND v.memory_id = ? ORDER BY e.id LIMIT ?
"""
_EVENT = ("id", "at_ms", "kind", "host", "session", "prompt_number", "trust", "state",
          "tool", "tool_use_id")  # fmt: skip
_GIVEN = f"""
  SELECT g.session_db_id, g.what, g.at_ms, s.content_session_id, s.platform_source,
    {shown('s.project')}
  FROM context_given g LEFT JOIN sdk_sessions s ON s.id = g.session_db_id
  WHERE EXISTS (SELECT 1 FROM json_each(g.ids) WHERE value = ?)
  ORDER BY g.at_ms DESC LIMIT ?
"""
_PLACE = ("session_db_id", "what", "at_ms", "session", "host", "project")
_SUPERSEDES = "SELECT id FROM observations WHERE superseded_by = ? ORDER BY id LIMIT ?"


def why(conn: apsw.Connection, key: Key) -> dict[str, Any]:
    """Evidence of a memory, what it superseded, and where it was given.

    Raises:
        NotFound: there is no such record.
    """
    found = load(conn, [key])
    if not found:
        raise NotFound(f"#{'S' if key[0] is DocKind.SUMMARY else ''}{key[1]} not found; `mem search WORDS` finds what is there")
    record, (kind, number) = found[0], key
    name = key_of(record)
    events = fetch.rows(conn, _EVIDENCE, kind.value, number, MOST)
    given = fetch.rows(conn, _GIVEN, name, MOST)
    earlier = fetch.rows(conn, _SUPERSEDES, number, MOST)
    return {
        "key": name,
        "evidence": [dict(zip(_EVENT, row, strict=True)) for row in events],
        "given": [dict(zip(_PLACE, row, strict=True)) for row in given],
        "log": given_log.of(conn, name, MOST),
        "personal": kind is DocKind.OBSERVATION and number in personal.ids(conn),
        "feedback": _said(conn, key),
        "verify": getattr(record, "verify", ""),
        "supersedes": [row[0] for row in earlier] if kind is DocKind.OBSERVATION else [],
        "superseded_by": getattr(record, "superseded_by", None),
        "trust": str(getattr(record, "trust", "user")),
        "model": getattr(record, "model", ""),
    }


def _said(conn: apsw.Connection, key: Key) -> dict[str, Any]:
    """What people say of an observation; nothing of other records."""
    kind, number = key
    return attrs.asdict(feedback.of(conn, number)) if kind is DocKind.OBSERVATION else {}
