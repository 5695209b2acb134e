"""What happened around one moment: records of all kinds before and after it, in order."""

from __future__ import annotations

import re
from collections.abc import Sequence

import apsw
import attrs

from claude_mem_core.errors import InvalidInput, NotFound
from claude_mem_core.recall import dates, listing
from claude_mem_core.recall.feed import TABLES
from claude_mem_core.recall.records import Key, Record, key_of, load, parse_key
from claude_mem_core.store import fetch
from claude_mem_core.types import DocKind

DEPTH = 3
MOST_DEPTH = 20
MOST_OF_DAY = 100
DAY = re.compile(r"\d{4}-\d\d-\d\d")

# Within one millisecond: the question, then what was done, then its summary.
_ORDER = (DocKind.PROMPT, DocKind.OBSERVATION, DocKind.SUMMARY)

_SQL = """
  SELECT id, created_at_epoch FROM {table}
  WHERE (created_at_epoch, id) {side} (?, ?) {holds} {project} {host}
  ORDER BY created_at_epoch {way}, id {way} LIMIT ?
"""


@attrs.frozen
class Anchor:
    """The moment in the middle, or a day.

    Attributes:
        key: the record that stands there, if one does.
        end_ms: the last moment of a day; None for a moment.
    """

    at_ms: int
    key: Key | None = None
    project_id: int | None = None
    end_ms: int | None = None


@attrs.frozen
class Timeline:
    """Records in order of time.

    Attributes:
        anchor: the key of the record in the middle, or None.
        of_day: how many of them belong to the day that was asked for; None for a moment.
        more: whether that day has more than are shown.
    """

    records: tuple[Record, ...]
    anchor: str | None
    at_ms: int
    of_day: int | None = None
    more: bool = False


def anchor_of(
    conn: apsw.Connection, text: str, project_ids: Sequence[int] | None = None
) -> Anchor:
    """The anchor that `text` names: an id, `S12`, `P4`, or a date or time.

    Raises:
        NotFound: there is no such record, or none in these projects.
        InvalidInput: it is neither an id nor a date.
    """
    try:
        key = parse_key(text)
    except InvalidInput:
        return _moment(text)
    if text.strip().isdigit() and len(text.strip()) > 11:
        return Anchor(dates.parse(text))
    found = load(conn, [key])
    if not found or (project_ids is not None and found[0].project_id not in project_ids):
        raise NotFound(f"Anchor {text.strip()[:40]} not found; `mem search` gives ids")
    return Anchor(found[0].created_ms, key, found[0].project_id)


def _moment(text: str) -> Anchor:
    at_ms = dates.parse(text)
    is_day = DAY.fullmatch(text.strip()) is not None
    return Anchor(at_ms, end_ms=dates.parse(text, end=True) if is_day else None)


def timeline(
    conn: apsw.Connection, anchor: Anchor, before: int = DEPTH, after: int = DEPTH,
    project_ids: Sequence[int] | None = None, host: str | None = None,
) -> Timeline:  # fmt: skip
    """`before` records before the anchor and `after` after it, the anchor between them.

    Of a day all its records stand between them, the first hundred where there are more.
    Without `project_ids` an anchor that is a record stays in its project.
    """
    if project_ids is None and anchor.project_id is not None:
        project_ids = [anchor.project_id]
    if anchor.end_ms is not None:
        return _day(conn, anchor, anchor.end_ms, before, after, project_ids, host)
    place = _place(anchor)
    earlier = _side(conn, place, project_ids, host, min(before, MOST_DEPTH), later=False)
    later = _side(conn, place, project_ids, host, min(after, MOST_DEPTH), later=True)
    middle = [anchor.key] if anchor.key else []
    records = load(conn, [*reversed(earlier), *middle, *later])
    named = next((key_of(r) for r in load(conn, middle)), None)
    return Timeline(tuple(records), named, anchor.at_ms)


def _day(
    conn: apsw.Connection, anchor: Anchor, end_ms: int, before: int, after: int,
    project_ids: Sequence[int] | None, host: str | None,
) -> Timeline:  # fmt: skip
    """A whole day, and what lies around it."""
    start, end = (anchor.at_ms, -1, 0), (end_ms, len(_ORDER), 0)
    inside = _side(conn, start, project_ids, host, MOST_OF_DAY + 1, later=True)
    inside = [key for key in inside if _at(conn, key) <= end_ms]
    earlier = _side(conn, start, project_ids, host, min(before, MOST_DEPTH), later=False)
    later = _side(conn, end, project_ids, host, min(after, MOST_DEPTH), later=True)
    shown = inside[:MOST_OF_DAY]
    records = load(conn, [*reversed(earlier), *shown, *later])
    more = len(inside) > MOST_OF_DAY
    return Timeline(tuple(records), None, anchor.at_ms, of_day=len(shown), more=more)


def _at(conn: apsw.Connection, key: Key) -> int:
    sql = f"SELECT created_at_epoch FROM {TABLES[key[0]]} WHERE id = ?"
    return int(fetch.value(conn, sql, key[1]))


def _place(anchor: Anchor) -> tuple[int, int, int]:
    """Where the anchor stands in the order of all records."""
    if anchor.key is None:
        return anchor.at_ms, 0, 0
    return anchor.at_ms, _ORDER.index(anchor.key[0]), anchor.key[1]


def _side(
    conn: apsw.Connection, place: tuple[int, int, int], project_ids: Sequence[int] | None,
    host: str | None, depth: int, *, later: bool,
) -> list[Key]:  # fmt: skip
    """The nearest `depth` records on one side, nearest first."""
    found: list[tuple[tuple[int, int, int], Key]] = []
    for project_id in [None] if project_ids is None else project_ids:
        for number, kind in enumerate(_ORDER):
            rows = _nearest(conn, kind, _bound(place, number), project_id, host, depth, later)
            found += [((at, number, i), (kind, i)) for i, at in rows]
    beyond = [pair for pair in found if (pair[0] > place if later else pair[0] < place)]
    beyond.sort(reverse=not later)
    return [key for _, key in beyond[:depth]]


def _bound(place: tuple[int, int, int], number: int) -> tuple[int, int]:
    """The key, among records of one kind, at which the anchor would stand."""
    at_ms, of, record_id = place
    if number == of:
        return at_ms, record_id
    return (at_ms, 0) if number > of else (at_ms, 1 << 62)


def _nearest(
    conn: apsw.Connection, kind: DocKind, bound: tuple[int, int], project_id: int | None,
    host: str | None, depth: int, later: bool,
) -> list[fetch.Row]:  # fmt: skip
    sql = _SQL.format(
        table=TABLES[kind],
        side=">=" if later else "<=",
        way="ASC" if later else "DESC",
        holds="" if kind is DocKind.PROMPT else "AND superseded_by IS NULL",
        project="" if project_id is None else "AND project_id = ?",
        host="" if host is None else "AND platform_source = ?",
    )
    limits = [value for value in (project_id, host) if value is not None]
    return fetch.rows(conn, sql, *bound, *limits, depth + 1)


def as_text(found: Timeline) -> str:
    """The timeline as the documented index, with the anchor marked."""
    around = f"#{found.anchor}" if found.anchor else dates.minute(found.at_ms)
    head = f"# Timeline around {around} ({len(found.records)} items)"
    if found.of_day is not None:
        head = f"# Timeline of {dates.day(found.at_ms)} ({_of_day(found)})"
    if not found.records:
        return f"{head}\n\nNothing is remembered around this time."
    notes = {found.anchor: "anchor"} if found.anchor else {}
    return "\n".join([head, *listing.by_day(found.records, notes)])


def _of_day(found: Timeline) -> str:
    count = f"{found.of_day} items"
    if found.more:
        count = f"the first {count}; `mem search --since DATE --until DATE` gives all"
    around = len(found.records) - (found.of_day or 0)
    return f"{count}, {around} around it" if around else count
