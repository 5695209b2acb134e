"""What a query is limited to, as tokens of the column `scope`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta

import apsw

from claude_mem_core.recall import words
from claude_mem_core.recall.units import quoted
from claude_mem_core.store import fetch, projects
from claude_mem_core.types import Query

LAST_MS = 253_370_764_800_000  # the end of 9998: dates after it have no successor
_SPAN = """
  SELECT min(first), max(last) FROM (
    SELECT min(created_at_epoch) AS first, max(created_at_epoch) AS last FROM observations
    UNION ALL SELECT min(created_at_epoch), max(created_at_epoch) FROM session_summaries
    UNION ALL SELECT min(created_at_epoch), max(created_at_epoch) FROM user_prompts)
"""


class Nothing(Exception):
    """No record can match: the project named is unknown, or no date is left."""


def filters(conn: apsw.Connection, query: Query) -> tuple[str, ...]:
    """MATCH expressions that all have to hold, besides the words.

    Raises:
        Nothing: no record can match.
    """
    found: list[str] = []
    ids = query.project_ids
    if ids is None and query.project is not None:
        ids = tuple(projects.find(conn, query.project))
    if ids is not None:
        found.append(_scope(ids, personal=query.personal))
    if query.types:
        found.append(_any("t", query.types))
    if query.concepts:
        found.append(_any("c", query.concepts))
    if query.host is not None:
        found.append(_any("h", [query.host]))
    if query.files:
        found.append("(" + " OR ".join(map(_file, query.files)) + ")")
    if query.since_ms is not None or query.until_ms is not None:
        found.append(_days(conn, query))
    return tuple(found)


def _scope(ids: Iterable[int], *, personal: bool) -> str:
    """What lies in these projects, and what belongs to the person."""
    return _any("p", ids, *([words.scope("u", 1)] if personal else ()))


def _any(letter: str, values: Iterable[object], *others: str) -> str:
    tokens = [quoted(words.scope(letter, value)) for value in values]
    tokens += map(quoted, others)
    if not tokens:
        raise Nothing(letter)
    return "(" + " OR ".join(tokens) + ")"


def _file(path: str) -> str:
    return "files : " + quoted(words.spaced(words.normal(path)))


def _days(conn: apsw.Connection, query: Query) -> str:
    first, last = fetch.rows(conn, _SPAN)[0]
    if first is None:
        raise Nothing("empty")
    since = max(first, query.since_ms if query.since_ms is not None else first)
    until = min(last, query.until_ms if query.until_ms is not None else last)
    if since > until:
        raise Nothing("dates")
    tokens = [quoted(token) for token in covering(_date(since), _date(until))]
    return "(" + " OR ".join(tokens) + ")"


def _date(at_ms: int) -> date:
    return datetime.fromtimestamp(min(max(at_ms, 0), LAST_MS) // 1000, UTC).date()


def covering(first: date, last: date) -> Iterator[str]:
    """Tokens of the fewest years, months and days that make up a range of days."""
    while first <= last:
        text = first.strftime("%Y%m%d")
        year_end = date(first.year, 12, 31)
        month_end = (first.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(1)
        if text.endswith("0101") and year_end <= last:
            letter, text, end = "y", text[:4], year_end
        elif first.day == 1 and month_end <= last:
            letter, text, end = "m", text[:6], month_end
        else:
            letter, end = "d", first
        yield words.scope(letter, text)
        first = end + timedelta(days=1)
