"""Pages of what is stored, newest first, as cheap at depth as at the top.

The next page is found by the key of the last record, not by counting. An offset, which
documented clients use, is walked on an index alone and from the nearer end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import apsw
import attrs

from claude_mem_core.store import fetch, rows, text
from claude_mem_core.types import DocKind

TABLES = {
    DocKind.OBSERVATION: ("observations", rows.OBSERVATION, rows.observation),
    DocKind.SUMMARY: ("session_summaries", rows.SUMMARY, rows.summary),
    DocKind.PROMPT: ("user_prompts", rows.PROMPT, rows.prompt),
}
Key = tuple[int, int]


@attrs.frozen
class Page:
    """One page of observations, summaries or prompts.

    Attributes:
        more: others follow.
        total: how many there are of the kind and the projects, whatever the host.
    """

    records: list[Any]
    more: bool
    total: int


@attrs.frozen
class Wanted:
    """What a page shows."""

    table: str
    project_ids: Sequence[int] | None
    host: str | None
    limit: int
    before: Key | None
    offset: int


def page(
    conn: apsw.Connection, kind: DocKind, project_ids: Sequence[int] | None,
    host: str | None, limit: int, before: Key | None = None, offset: int = 0,
) -> Page:  # fmt: skip
    """The newest records before the key `before`, `offset` of them passed over.

    `project_ids`: None for all, empty for none. The key of a record is its creation time
    in milliseconds and its id.
    """
    table, columns, made = TABLES[kind]
    total = count(conn, kind, project_ids)
    if project_ids is None and host is not None:
        project_ids = _all_projects(conn)
    wanted = Wanted(table, project_ids, host, limit + 1, before, offset)
    ids = _ids(conn, wanted, total)
    sql = f"""SELECT {columns} FROM {table} WHERE id IN (SELECT value FROM json_each(?))
      ORDER BY created_at_epoch DESC, id DESC"""
    found = [made(row) for row in fetch.rows(conn, sql, text.dumps(ids[:limit]))]
    return Page(found, len(ids) > limit, total)


def count(conn: apsw.Connection, kind: DocKind, project_ids: Sequence[int] | None) -> int:
    """How many records of a kind there are, without reading them."""
    sql = """SELECT coalesce(sum(n), 0) FROM totals
      WHERE kind = ?1 AND (?2 IS NULL OR project_id IN (SELECT value FROM json_each(?2)))"""
    among = None if project_ids is None else text.dumps(list(project_ids))
    return int(fetch.value(conn, sql, kind.value, among))


def _ids(conn: apsw.Connection, wanted: Wanted, total: int) -> list[int]:
    """Ids of the page, and one more when there is a next page."""
    if wanted.project_ids is not None and not wanted.project_ids:
        return []
    whole = wanted.before is None and wanted.host is None
    if whole and wanted.offset > total // 2:
        return _from_the_end(conn, wanted, total)
    sql, values = _select(wanted, "DESC", wanted.limit, wanted.offset)
    return [row[0] for row in fetch.rows(conn, sql, *values)]


def _from_the_end(conn: apsw.Connection, wanted: Wanted, total: int) -> list[int]:
    """The same page, counted from the oldest record."""
    last = total - wanted.offset
    first = max(last - wanted.limit, 0)
    if last <= 0:
        return []
    sql, values = _select(wanted, "ASC", last - first, first)
    return [row[0] for row in reversed(fetch.rows(conn, sql, *values))]


def _select(wanted: Wanted, order: str, limit: int, offset: int) -> tuple[str, list[Any]]:
    """Each project by its own index, merged; one project or none needs no merge."""
    parts = list(_parts(wanted))
    by = f"ORDER BY created_at_epoch {order}, id {order}"
    if len(parts) == 1:
        where, values = parts[0]
        sql = f"SELECT id FROM {wanted.table} {where} {by} LIMIT ? OFFSET ?"
        return sql, [*values, limit, offset]
    each = f"SELECT id, created_at_epoch FROM {wanted.table} {{}} {by} LIMIT {limit + offset}"
    union = " UNION ALL ".join(f"SELECT * FROM ({each.format(where)})" for where, _ in parts)
    sql = f"SELECT id FROM ({union}) {by} LIMIT ? OFFSET ?"
    return sql, [*(v for _, values in parts for v in values), limit, offset]


def _parts(wanted: Wanted) -> Iterator[tuple[str, list[Any]]]:
    for project in wanted.project_ids if wanted.project_ids is not None else (None,):
        terms: list[str] = []
        values: list[Any] = []
        if project is not None:
            terms, values = ["project_id = ?"], [project]
        if wanted.host is not None:
            terms.append("platform_source = ?")
            values.append(wanted.host)
        if wanted.before is not None:
            terms.append("(created_at_epoch, id) < (?, ?)")
            values.extend(wanted.before)
        yield ("WHERE " + " AND ".join(terms) if terms else ""), values


def _all_projects(conn: apsw.Connection) -> list[int]:
    return [row[0] for row in fetch.rows(conn, "SELECT DISTINCT project_id FROM totals")]
