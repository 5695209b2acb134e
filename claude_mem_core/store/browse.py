"""Memories of both kinds as one list, newest first: pages, counts by day, counts by value.

A page walks indexes from the key it begins at, so the last page costs what the first does.
The counts read an index through, never the rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import apsw
import attrs

from claude_mem_core.store import fetch, text
from claude_mem_core.types import DocKind

SUMMARY = "summary"  # how a filter by type names the other kind
STATES = {
    "": "",
    "pinned": "id IN (SELECT record_id FROM pins WHERE kind = '{kind}')",
    "wrong": "superseded_by = 0",
    "replaced": "superseded_by > 0",
}
TABLES = {DocKind.OBSERVATION: "observations", DocKind.SUMMARY: "session_summaries"}
KINDS = (DocKind.OBSERVATION, DocKind.SUMMARY)
MOST_PARTS = 200  # walks that are merged; more filters than that are tested row by row
LATEST_MS = 253_402_300_800_000  # where the calendar ends
QUARTER_MS = 900_000  # every offset from UTC is a multiple of it


Counted = tuple[tuple[int, int], int]  # the midnights around a day, and how many


@attrs.frozen(kw_only=True)
class Shown:
    """Which memories a list shows; empty values stand for all.

    Attributes:
        project_ids: None for all projects, empty for none of them.
        types: types of observations, and `summary`.
        since_ms: inclusive; `until_ms`: exclusive.
        state: `pinned`, `wrong`, `replaced` or empty.
    """

    project_ids: Sequence[int] | None = None
    types: tuple[str, ...] = ()
    host: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    state: str = ""

    def kinds(self) -> tuple[DocKind, ...]:
        """The kinds that the types leave."""
        if not self.types:
            return KINDS
        wanted = {DocKind.SUMMARY if name == SUMMARY else DocKind.OBSERVATION for name in self.types}
        return tuple(kind for kind in KINDS if kind in wanted)


@attrs.frozen(order=True)
class Key:
    """Place of a memory in the list: its time, its kind (0 or 1), its id."""

    created_ms: int
    kind: int
    id: int

    @property
    def doc_kind(self) -> DocKind:
        return KINDS[self.kind]


def page(
    conn: apsw.Connection, shown: Shown, limit: int, before: Key | None = None, offset: int = 0
) -> tuple[list[Key], bool]:
    """The newest keys after `before`, `offset` passed over; and whether others follow."""
    if shown.project_ids is not None and not shown.project_ids:
        return [], False
    most = limit + 1 + offset
    parts = [_part(*one) for kind in shown.kinds() for one in _parts(conn, shown, kind, before)]
    union = " UNION ALL ".join(f"SELECT * FROM ({sql} LIMIT {most})" for sql, _ in parts)
    sql = f"""SELECT created_at_epoch, kind, id FROM ({union})
      ORDER BY created_at_epoch DESC, kind, id DESC LIMIT ? OFFSET ?"""
    values = [value for _, some in parts for value in some]
    found = [Key(*row) for row in fetch.rows(conn, sql, *values, limit + 1, offset)]
    return found[:limit], len(found) > limit


def by_day(conn: apsw.Connection, shown: Shown) -> list[tuple[int, int, int]]:
    """How many there are on each day of this machine's calendar, newest first.

    Each as (start of the day, start of the next, count); times in milliseconds.
    """
    days: dict[tuple[int, int], int] = {}
    for kind in shown.kinds():
        counted = _walked if _has_an_index(shown, kind) else _read_through
        for bounds, count in counted(conn, shown, kind):
            days[bounds] = days.get(bounds, 0) + count
    return [(*bounds, count) for bounds, count in sorted(days.items(), reverse=True)]


def _has_an_index(shown: Shown, kind: DocKind) -> bool:
    """Whether an index begins with what is filtered and goes on by time."""
    typed = kind is DocKind.OBSERVATION and bool(shown.types)
    alone = shown.host is None or shown.project_ids is not None
    return not typed and not shown.state and alone


def _walked(conn: apsw.Connection, shown: Shown, kind: DocKind) -> Iterator[Counted]:
    """Day for day down the index of each project: only what is there costs anything."""
    for project in shown.project_ids if shown.project_ids is not None else (None,):
        one = attrs.evolve(shown, project_ids=None if project is None else (project,))
        until = LATEST_MS if shown.until_ms is None else shown.until_ms
        while (newest := _newest(conn, attrs.evolve(one, until_ms=until), kind)) is not None:
            start, _ = bounds = _day_of(newest)
            since = start if shown.since_ms is None else max(start, shown.since_ms)
            where, values = _where(attrs.evolve(one, since_ms=since, until_ms=until), kind)
            sql = f"SELECT count(*) FROM {TABLES[kind]} {where}"
            yield bounds, int(fetch.value(conn, sql, *values))
            until = min(start, newest)


def _newest(conn: apsw.Connection, shown: Shown, kind: DocKind) -> int | None:
    where, values = _where(shown, kind)
    sql = f"""SELECT created_at_epoch FROM {TABLES[kind]} {where}
      ORDER BY created_at_epoch DESC LIMIT 1"""
    found = fetch.value(conn, sql, *values)
    return None if found is None else int(found)


def _read_through(conn: apsw.Connection, shown: Shown, kind: DocKind) -> Iterator[Counted]:
    """Quarter for quarter of an hour over all that fits: any filters."""
    where, values = _where(shown, kind)
    sql = f"""SELECT created_at_epoch / {QUARTER_MS}, count(*) FROM {TABLES[kind]}
      {where} GROUP BY 1 ORDER BY 1"""
    bounds = (0, 0)
    for quarter, count in fetch.rows(conn, sql, *values):
        if not bounds[0] <= quarter * QUARTER_MS < bounds[1]:
            bounds = _day_of(quarter * QUARTER_MS)
        yield bounds, count


def values_of(conn: apsw.Connection, shown: Shown) -> dict[str, dict[str, int]]:
    """How many there are of each type and host under the other filters."""
    found: dict[str, dict[str, int]] = {"types": {}, "hosts": {}}
    for kind in KINDS:
        named = "type" if kind is DocKind.OBSERVATION else f"'{SUMMARY}'"
        wide = attrs.evolve(shown, types=())
        _add(found["types"], _grouped(conn, wide, kind, named))
    for kind in shown.kinds():
        wide = attrs.evolve(shown, host=None)
        _add(found["hosts"], _grouped(conn, wide, kind, "platform_source"))
    return found


def _grouped(
    conn: apsw.Connection, shown: Shown, kind: DocKind, column: str
) -> list[tuple[str, int]]:
    where, values = _where(shown, kind)
    sql = f"SELECT {column}, count(*) FROM {TABLES[kind]} {where} GROUP BY 1"
    return [(str(name), int(count)) for name, count in fetch.rows(conn, sql, *values) if count]


def _add(into: dict[str, int], counts: list[tuple[str, int]]) -> None:
    for name, count in counts:
        into[name] = into.get(name, 0) + count


def _day_of(at_ms: int) -> tuple[int, int]:
    """The midnights around a time, in this machine's calendar."""
    try:
        year, month, day, *_ = time.localtime(at_ms / 1000)
        ends = (time.mktime((year, month, day + more, 0, 0, 0, 0, 0, -1)) for more in (0, 1))
        start, end = (int(moment) * 1000 for moment in ends)
    except (OverflowError, ValueError, OSError):
        return 0, LATEST_MS
    return start, end


# Statements ---------------------------------------------------------------------------------


def _parts(
    conn: apsw.Connection, shown: Shown, kind: DocKind, before: Key | None
) -> Iterator[tuple[Shown, DocKind, Key | None]]:
    """One walk for each project and type, so that each has an index of its own."""
    types = tuple(t for t in shown.types if t != SUMMARY) if kind is DocKind.OBSERVATION else ()
    projects = shown.project_ids
    if projects is None and (types or shown.host) and not shown.state:
        projects = [row[0] for row in fetch.rows(conn, "SELECT DISTINCT project_id FROM totals")]
    if len(projects or "1") * len(types or "1") > MOST_PARTS:
        yield shown, kind, before
        return
    for project, type_ in product(projects or (None,), types or (None,)):
        among = shown.project_ids if project is None else (project,)
        yield attrs.evolve(shown, project_ids=among, types=(type_,) if type_ else ()), kind, before


def _part(shown: Shown, kind: DocKind, before: Key | None) -> tuple[str, list[Any]]:
    where, values = _where(shown, kind, before)
    number = KINDS.index(kind)
    sql = f"""SELECT created_at_epoch, {number} AS kind, id FROM {TABLES[kind]} {where}
      ORDER BY created_at_epoch DESC, id DESC"""
    return sql, values


def _where(
    shown: Shown, kind: DocKind, before: Key | None = None
) -> tuple[str, list[Any]]:
    terms: list[str] = []
    values: list[Any] = []

    def add(term: str, *given: Any) -> None:
        terms.append(term)
        values.extend(given)

    if shown.project_ids is not None:
        _one_of(add, "project_id", list(shown.project_ids))
    types = [name for name in shown.types if name != SUMMARY]
    if types and kind is DocKind.OBSERVATION:
        _one_of(add, "type", types)
    if shown.host is not None:
        add("platform_source = ?", shown.host)
    if shown.since_ms is not None:
        add("created_at_epoch >= ?", shown.since_ms)
    if shown.until_ms is not None:
        add("created_at_epoch < ?", shown.until_ms)
    if STATES[shown.state]:
        add(STATES[shown.state].format(kind=kind.value))
    if before is not None:
        _after(add, before, KINDS.index(kind))
    return ("WHERE " + " AND ".join(terms) if terms else ""), values


def _one_of(add: Any, column: str, values: Sequence[Any]) -> None:
    if len(values) == 1:
        add(f"{column} = ?", values[0])
    else:
        add(f"{column} IN (SELECT value FROM json_each(?))", text.dumps(list(values)))


def _after(add: Any, before: Key, kind: int) -> None:
    """What stands below a key: of one time the observations come first, then by id."""
    if kind == before.kind:
        add("(created_at_epoch, id) < (?, ?)", before.created_ms, before.id)
    elif kind > before.kind:
        add("created_at_epoch <= ?", before.created_ms)
    else:
        add("created_at_epoch < ?", before.created_ms)
