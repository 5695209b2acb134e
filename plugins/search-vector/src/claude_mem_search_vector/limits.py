"""What a query is limited to, as conditions on the rows of a table of vectors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw
import attrs

from claude_mem_core.types import DocKind, Query
from claude_mem_search_vector.texts import bounds, number_of


@attrs.frozen
class Limits:
    """Conditions joined by AND, and their values."""

    sql: str
    values: tuple[Any, ...]


def limits(query: Query) -> Limits:
    """The conditions that the columns beside a vector can answer."""
    kinds = [DocKind.OBSERVATION] if query.types or query.concepts else query.kinds
    kinds = [kind for kind in kinds if kind in query.kinds]
    parts: list[tuple[str, Sequence[Any]]] = [_kinds(kinds)]
    if query.project_ids is not None:
        parts.append(_among("v.project_id", query.project_ids))
    if query.types:
        parts.append(_among("v.type", query.types))
    if query.host is not None:
        parts.append(("v.host = ?", (query.host,)))
    if query.since_ms is not None:
        parts.append(("v.created_at_epoch >= ?", (query.since_ms,)))
    if query.until_ms is not None:
        parts.append(("v.created_at_epoch <= ?", (query.until_ms,)))
    values = [value for _, some in parts for value in some]
    return Limits(" AND ".join(sql for sql, _ in parts), tuple(values))


def _kinds(kinds: Sequence[DocKind]) -> tuple[str, Sequence[Any]]:
    if len(kinds) == len(DocKind):
        return "TRUE", ()
    spans = " OR ".join(["v.id BETWEEN ? AND ?"] * len(kinds)) or "FALSE"
    return f"({spans})", [edge for kind in kinds for edge in bounds(kind)]


def _among(column: str, values: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    return f"{column} IN ({','.join('?' * len(values))})", values


def narrowed(conn: apsw.Connection, query: Query, numbers: Sequence[int]) -> set[int]:
    """Those of the records that have one of the concepts and one of the files asked for."""
    kept = set(numbers)
    if query.concepts:
        sql = (
            "SELECT o.id FROM observations o WHERE o.id IN (SELECT value FROM json_each(?1))"
            " AND EXISTS (SELECT 1 FROM json_each(o.concepts) c"
            "   WHERE c.value IN (SELECT value FROM json_each(?2)))"
        )
        ids = json.dumps(
            [number for number in kept if number <= bounds(DocKind.OBSERVATION)[1]]
        )
        rows = conn.execute(sql, (ids, json.dumps(query.concepts)))
        kept = {number_of(DocKind.OBSERVATION, row[0]) for row in rows}
    if query.files:
        kept &= {number for path in query.files for number in _of_file(conn, path)}
    return kept


def _of_file(conn: apsw.Connection, path: str) -> list[int]:
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    sql = "SELECT kind, memory_id FROM memory_files WHERE name = ? AND path LIKE ?"
    rows = conn.execute(sql, (name, f"%{path}"))
    return [number_of(DocKind(kind), record_id) for kind, record_id in rows]
