"""The raw index of tool uses: what went in, what came out, 64 KB of each at most."""

from __future__ import annotations

import json
from typing import Any

import apsw
import attrs

from claude_mem_core.store import fetch, text
from claude_mem_core.store.entry import Entry
from claude_mem_core.store.sessions import Known
from claude_mem_core.types import Event, EventKind, ToolUse

# A replay fills what is empty and changes nothing else.
INSERT = """
  INSERT INTO tool_uses (tool_use_id, content_session_id, memory_session_id, session_db_id,
    project, platform_source, tool_name, tool_input, tool_response, cwd, prompt_number,
    agent_type, agent_id, content_hash, created_at, created_at_epoch, project_id, failed,
    event_id)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (platform_source, content_session_id, tool_use_id) DO UPDATE SET
    tool_input = coalesce(tool_input, excluded.tool_input),
    content_hash = CASE WHEN tool_response IS NULL AND excluded.tool_response IS NOT NULL
      THEN excluded.content_hash ELSE content_hash END,
    tool_response = coalesce(tool_response, excluded.tool_response),
    cwd = coalesce(cwd, excluded.cwd),
    agent_type = coalesce(agent_type, excluded.agent_type),
    agent_id = coalesce(agent_id, excluded.agent_id),
    event_id = coalesce(event_id, excluded.event_id)
"""
FIND = """
  SELECT tool_input, tool_response FROM tool_uses
  WHERE platform_source = ? AND content_session_id = ? AND tool_use_id = ?
"""

# A whole row, and of this very event: one that was used and failed has two events.
SAME_ID = """
  SELECT t.content_hash FROM tool_uses t JOIN events e ON e.id = t.event_id
  WHERE t.platform_source = ? AND t.content_session_id = ? AND t.tool_use_id = ?
    AND e.key = ? AND t.tool_input IS NOT NULL AND t.tool_response IS NOT NULL
"""


def add(
    conn: apsw.Connection, session: Known, entry: Entry, event_id: int, number: int
) -> None:
    """Index a tool use; a second report of the same use fills what is empty."""
    event, tool, at_ms = entry.event, entry.event.tool, entry.at_ms
    assert tool is not None
    used, came = _json(tool.input), _json(_response(tool))
    project = entry.project
    label, project_id = (project.label, project.id) if project else ("", 0)
    conn.execute(INSERT, (
        text.safe(tool.id) or entry.event_key, event.session_id,
        session.memory_session_id, session.id, label, event.host, text.safe(tool.name),
        used and used.text, came and came.text, event.cwd or None, number,
        text.maybe(event.agent_type), text.maybe(event.agent_id), _hash(used, came),
        text.iso(at_ms), at_ms, project_id, int(_failed(event, tool)), event_id,
    ))  # fmt: skip


def joined(conn: apsw.Connection, event: Event, event_key: str) -> Event:
    """The event with its tool's input and output back in."""
    tool = event.tool
    if tool is None:
        return event
    row = fetch.row(conn, FIND, event.host, event.session_id, tool.id or event_key)
    if row is None:
        return event
    used, came = map(_value, row)
    if tool.output is None and tool.error is not None and _is_error(came):
        came = None
    return attrs.evolve(event, tool=attrs.evolve(tool, input=used, output=came))


def another(conn: apsw.Connection, event: Event, event_key: str) -> str:
    """Hash of a use that shares its id with a stored one but says something else.

    Empty for a new use and for a repeat, also one that only fills what is empty: hosts
    whose ids are not unique must not lose anything by it.
    """
    tool = event.tool
    if tool is None or tool.input is None or _response(tool) is None:
        return ""
    ids = (event.host, event.session_id, tool.id)
    known = fetch.value(conn, SAME_ID, *map(text.safe, ids), text.safe(event_key))
    made = _hash(_json(tool.input), _json(_response(tool))) if known else ""
    return "" if made == known else made


def _response(tool: ToolUse) -> Any:
    """What came of it; for a failure without output, the failure."""
    if tool.output is not None or tool.error is None:
        return tool.output
    return {"error": tool.error, "is_interrupt": tool.is_interrupt}


def _is_error(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"error", "is_interrupt"}


def _failed(event: Event, tool: ToolUse) -> bool:
    return event.kind is EventKind.TOOL_FAILED or tool.error is not None


def _json(value: Any) -> text.Cut | None:
    return None if value is None else text.cut_json(value)


def _hash(used: text.Cut | None, came: text.Cut | None) -> str:
    """Over the originals, whatever was cut."""
    return text.hashed((part.hash or part.text) if part else "" for part in (used, came))


def _value(stored: str | None) -> Any:
    if stored is None:
        return None
    try:
        return json.loads(stored)
    except ValueError:  # cut in the middle
        return stored
