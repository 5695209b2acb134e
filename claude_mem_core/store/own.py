"""What people said of memories and projects, as an export holds it: by label and number."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from claude_mem_core.store import fetch, personal, projects

PROJECTS = """
  SELECT p.id, p.label, m.label, p.key FROM projects p LEFT JOIN projects m ON m.id = p.merged_into
  WHERE p.kind <> ?1 AND (?2 IS NULL OR p.id IN (SELECT value FROM json_each(?2))) ORDER BY p.id
"""
PINS = """
  SELECT p.kind, p.record_id, p.at_ms FROM pins p WHERE p.record_id IN
    (SELECT value FROM json_each(CASE p.kind WHEN 'observation' THEN ?1 ELSE ?2 END))
  ORDER BY p.at_ms, p.kind, p.record_id
"""
PERSONAL = """
  SELECT memory_id FROM personal WHERE memory_id IN (SELECT value FROM json_each(?))
  ORDER BY place, memory_id
"""
FEEDBACK = """
  SELECT memory_id, useful, outdated, at_ms FROM feedback
  WHERE memory_id IN (SELECT value FROM json_each(?)) ORDER BY memory_id
"""


def owned(
    conn: apsw.Connection, observations: Sequence[int], summaries: Sequence[int],
    chosen: Sequence[int] | None,
) -> dict[str, list[Any]]:  # fmt: skip
    """What was said of these memories, and of the chosen projects; None for every one."""
    first, second = json.dumps(list(observations)), json.dumps(list(summaries))
    return {
        "projects": _projects(conn, chosen),
        "pins": _rows(conn, PINS, ("kind", "id", "at"), first, second),
        "personal": [number for (number,) in fetch.rows(conn, PERSONAL, first)],
        "feedback": _rows(conn, FEEDBACK, ("id", "useful", "outdated", "at"), first),
    }


def _rows(
    conn: apsw.Connection, sql: str, names: Sequence[str], *values: str
) -> list[Mapping[str, Any]]:
    return [dict(zip(names, row, strict=True)) for row in fetch.rows(conn, sql, *values)]


def _projects(conn: apsw.Connection, chosen: Sequence[int] | None) -> list[dict[str, Any]]:
    """Those of which somebody has said something, so that nothing else is told of them."""
    only = None if chosen is None else json.dumps(list(chosen))
    found = []
    for number, label, merged, key in fetch.rows(conn, PROJECTS, projects.GENERAL, only):
        names = fetch.rows(
            conn, "SELECT said, shown FROM project_names WHERE project_id = ? ORDER BY said", number
        )
        aliases = fetch.rows(
            conn, "SELECT label FROM project_labels WHERE project_id = ? ORDER BY label", number
        )
        if names or aliases or merged or key == personal.KEY:
            found.append({
                "label": label, "aliases": [row[0] for row in aliases],
                "names": [list(row) for row in names], "merged_into": merged,
                "personal": key == personal.KEY,
            })  # fmt: skip
    return found
