"""How long and how much is kept: rules by kind and project, and a limit for all of it.

What is pinned, or belongs to the person, stays, and so do the events that it rests on.
Of events only the content goes; their receipts stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import apsw
import attrs

from claude_mem_core.errors import InvalidInput
from claude_mem_core.settings.retention_area import NAMES, rule_fault
from claude_mem_core.store import fetch, forget, projects, text
from claude_mem_core.types import DocKind

SETTING = "CLAUDE_MEM_RETENTION_RULES"
DAY_MS = 86_400_000
KINDS = {
    "observations": DocKind.OBSERVATION, "summaries": DocKind.SUMMARY, "prompts": DocKind.PROMPT,
}  # fmt: skip
# Tool uses that came without an event, by an import: raw as well, so they go with events.
RAW = "tool_uses"
# In this order the oldest goes when the file is too large.
ORDER = ("events", RAW, "prompts", "summaries", "observations")
PINNED = """NOT EXISTS (SELECT 1 FROM pins n WHERE n.kind = '{kind}' AND n.record_id = t.id)"""
PERSONAL = " AND NOT EXISTS (SELECT 1 FROM personal n WHERE n.memory_id = t.id)"
FULL = """t.state IN ('stored', 'recorded') AND t.payload <> json_object('kind', t.kind,
  'host', t.host, 'session_id', t.session, 'at_ms', t.at_ms)
  AND NOT EXISTS (SELECT 1 FROM evidence v JOIN pins n ON n.kind = v.kind
    AND n.record_id = v.memory_id WHERE v.event_id = t.id)
  AND NOT EXISTS (SELECT 1 FROM evidence v JOIN personal n ON v.kind = 'observation'
    AND n.memory_id = v.memory_id WHERE v.event_id = t.id)"""
LOOSE = """t.event_id IS NULL
  AND NOT EXISTS (SELECT 1 FROM pins n WHERE n.kind = 'observation'
    AND n.record_id = t.observation_id)
  AND NOT EXISTS (SELECT 1 FROM personal n WHERE n.memory_id = t.observation_id)"""
OF_SESSION = "(SELECT project_id FROM sdk_sessions WHERE id = t.session_db_id)"
OLD = "SELECT t.id FROM {table} t WHERE {at} < ?1 AND {mine} AND {free} ORDER BY {at} LIMIT ?3"
# The newest `count` of each project stay, whether pinned or not.
MANY = """
  SELECT id FROM (
    SELECT t.id, {at} AS at, {free} AS free,
      row_number() OVER (PARTITION BY {project} ORDER BY {at} DESC, t.id DESC) AS place
    FROM {table} t WHERE {mine} {only}
  ) WHERE place > ?1 AND free ORDER BY at LIMIT ?3
"""
MINE = "(?2 IS NULL OR {project} IN (SELECT value FROM json_each(?2)))"


@attrs.frozen(kw_only=True)
class Rule:
    """One rule: of a kind, in these projects, what is older or more than that goes."""

    kind: str
    projects: Sequence[int] | None = None
    days: int = 0
    count: int = 0


def rules(conn: apsw.Connection, given: Any) -> list[Rule]:
    """The rules of the setting; a project that is not known has nothing to go.

    Raises:
        InvalidInput: one is no rule; the text says which and why.
    """
    if not isinstance(given, list | tuple):
        raise InvalidInput(f"{SETTING} is no list of rules; see `mem config explain {SETTING}`")
    return [rule for number, entry in enumerate(given, 1) for rule in _rules(conn, number, entry)]


def _rules(conn: apsw.Connection, number: int, entry: Any) -> Iterator[Rule]:
    fault = rule_fault(entry)
    if fault:
        raise InvalidInput(f"rule {number} of {SETTING}: {fault}; nothing was deleted")
    name = entry.get("project")
    among = None if name in (None, "", "*") else projects.find(conn, str(name))
    kinds = NAMES if entry["kind"] == "all" else (entry["kind"],)
    for kind in (*kinds, *((RAW,) if "events" in kinds else ())):
        yield Rule(
            kind=kind, projects=among, days=entry.get("days", 0), count=entry.get("count", 0)
        )


def due(conn: apsw.Connection, rule: Rule, now: int, limit: int) -> list[int]:
    """What goes by a rule, oldest first."""
    among = None if rule.projects is None else text.dumps(list(rule.projects))
    found: dict[int, None] = {}
    if rule.days:
        found |= _ids(conn, OLD, rule.kind, now - rule.days * DAY_MS, among, limit)
    if rule.count and len(found) < limit:
        found |= _ids(conn, MANY, rule.kind, rule.count, among, limit - len(found))
    return list(found)


def drop(conn: apsw.Connection, kind: str, numbers: Sequence[int]) -> int:
    """Delete these; returns how many."""
    for number in numbers:
        if kind == "events":
            forget.empty_events(conn, [number])
        elif kind == RAW:
            conn.execute("DELETE FROM tool_uses WHERE id = ?", (number,))
        else:
            forget.delete(conn, KINDS[kind], number)
    return len(numbers)


def some(conn: apsw.Connection, wanted: Sequence[Rule], now: int, limit: int = 200) -> dict[str, int]:
    """Delete up to `limit` of what goes by the first rule that has any; empty when none has."""
    for rule in wanted:
        if ids := due(conn, rule, now, limit):
            return {rule.kind: drop(conn, rule.kind, ids)}
    return {}


def count(conn: apsw.Connection, wanted: Sequence[Rule], now: int) -> dict[str, int]:
    """How much of each kind goes by the rules; nothing is written."""
    ids: dict[str, set[int]] = {}
    for rule in wanted:
        ids.setdefault(rule.kind, set()).update(due(conn, rule, now, 2**62))
    return {kind: len(found) for kind, found in ids.items() if found}


# The size -----------------------------------------------------------------------------------


def live_bytes(conn: apsw.Connection) -> int:
    """The size of the database without its gaps."""
    pages = int(conn.pragma("page_count")) - int(conn.pragma("freelist_count"))
    return pages * int(conn.pragma("page_size"))


def shrink(conn: apsw.Connection, kind: str, most_bytes: int, limit: int = 200) -> int:
    """Delete up to `limit` of the oldest of a kind when the file is larger than that; how many.

    Room within pages shows only when the file is written anew, so do that between two kinds.
    """
    if live_bytes(conn) <= most_bytes:
        return 0
    return drop(conn, kind, list(_ids(conn, OLD, kind, 2**62, None, limit)))


# The documented purge of the raw tool index ---------------------------------------------------


def purge_tool_uses(conn: apsw.Connection, days: int, now: int, limit: int = 500) -> int:
    """Delete raw tool uses older than `days` of which a memory was made; 0 days keep all."""
    if days <= 0:
        return 0
    sql = """SELECT id FROM tool_uses WHERE created_at_epoch < ?
      AND observation_id IN (SELECT id FROM observations) LIMIT ?"""
    rows = fetch.rows(conn, sql, now - days * DAY_MS, limit)
    conn.executemany("DELETE FROM tool_uses WHERE id = ?", rows)
    return len(rows)


def _ids(
    conn: apsw.Connection, form: str, kind: str, bound: int, among: str | None, limit: int
) -> dict[int, None]:
    if kind == "events":
        table, at, project, free, only = "events", "t.at_ms", OF_SESSION, FULL, f"AND {FULL}"
    elif kind == RAW:
        table, at, project = RAW, "t.created_at_epoch", "t.project_id"
        free, only = LOOSE, "AND t.event_id IS NULL"
    else:
        doc = KINDS[kind]
        table, at, project, only = forget.TABLES[doc], "t.created_at_epoch", "t.project_id", ""
        free = PINNED.format(kind=doc.value) + (PERSONAL if doc is DocKind.OBSERVATION else "")
    mine = MINE.format(project=project)
    sql = form.format(table=table, at=at, mine=mine, free=free, project=project, only=only)
    return {row[0]: None for row in fetch.rows(conn, sql, bound, among, limit)}
