"""How much there is; counted from what the tables keep for it, never by reading them."""

from __future__ import annotations

from typing import Any

import apsw

from claude_mem_core.store import fetch
from claude_mem_core.store.pages import count
from claude_mem_core.store.rows import PROJECT
from claude_mem_core.types import DocKind

BY_PROJECT = """
  SELECT p.label, t.n FROM totals t JOIN projects p ON p.id = t.project_id
  WHERE t.kind = 'observation' AND t.n > 0 ORDER BY t.n DESC, p.label
"""
FIRST = "SELECT created_at_epoch FROM observations ORDER BY created_at_epoch, id LIMIT 1"
HOSTS = f"""
  SELECT platform_source, {PROJECT} AS label, max(started_at_epoch) AS newest
  FROM sdk_sessions GROUP BY platform_source, label ORDER BY newest DESC, label
"""


def stats(conn: apsw.Connection) -> dict[str, Any]:
    """The numbers of the documented answer: by project, in all, and of the file."""
    counts = {kind: count(conn, kind, None) for kind in DocKind}
    sessions = int(fetch.value(conn, "SELECT count(*) FROM sdk_sessions"))
    active = "SELECT count(*) FROM sdk_sessions WHERE status = 'active'"
    return {
        "byProject": dict(fetch.rows(conn, BY_PROJECT)),
        "total": counts[DocKind.OBSERVATION],
        "firstObservationAt": fetch.value(conn, FIRST),
        "active_sessions": int(fetch.value(conn, active)),
        "database": {
            "size": int(conn.pragma("page_count")) * int(conn.pragma("page_size")),
            "observations": counts[DocKind.OBSERVATION],
            "summaries": counts[DocKind.SUMMARY],
            "prompts": counts[DocKind.PROMPT],
            "sessions": sessions,
        },
    }


def projects(conn: apsw.Connection) -> dict[str, list[str]]:
    """Labels of the projects of each host, those with the newest session first."""
    found: dict[str, list[str]] = {}
    for host, label, _ in fetch.rows(conn, HOSTS):
        found.setdefault(host, []).append(label)
    return found
