"""What is stored already, cleaned again: secrets that no pattern knew when they came."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import apsw
import attrs

from claude_mem_core.store import fetch, text
from claude_mem_core.store.draft import title_key
from claude_mem_core.store.erase import WORDS, tables

Clean = Callable[[Any], Any]  # a text, or a JSON value, without what may not be kept
Counts = Callable[[str, str], Mapping[str, int]]  # by name, what is new in the second text
JSON = {
    "payload", "tool_input", "tool_response", "before", "facts", "concepts", "files_read",
    "files_modified", "files_edited", "metadata", "tasks",
}  # fmt: skip
KEYS = {"context_given": "session_db_id || ' ' || what"}
LETTERS = {"observations": "", "session_summaries": "S", "user_prompts": "P"}
SHOWN = 200


@attrs.frozen
class Swept:
    """What was found: how often which pattern, in how many rows of which table.

    Attributes:
        where: the first rows, as `#12`, `#S3` or `tool_uses 7`; never what they say.
    """

    patterns: Mapping[str, int] = attrs.field(factory=dict)
    rows: Mapping[str, int] = attrs.field(factory=dict)
    where: tuple[str, ...] = ()

    def __add__(self, other: Swept) -> Swept:
        patterns = Counter(self.patterns) + Counter(other.patterns)
        rows = Counter(self.rows) + Counter(other.rows)
        return Swept(dict(patterns), dict(rows), (*self.where, *other.where)[:SHOWN])

    def __bool__(self) -> bool:
        return bool(self.rows)


@attrs.frozen
class Place:
    """How far a sweep has come: a table, and the number of its last row."""

    table: str
    after: int = -1


def begin() -> Place:
    """Where a sweep begins."""
    return Place(next(iter(WORDS)))


def step(
    conn: apsw.Connection, place: Place, clean: Clean, counts: Counts, *, write: bool,
    limit: int = 200,
) -> tuple[Swept, Place | None]:  # fmt: skip
    """Look at the next `limit` rows, and with `write` put cleaned ones in their place.

    Raises:
        CleaningFailed: a redactor failed; nothing of this step was written.
    """
    found, last = Swept(), place.after
    rows = _rows(conn, place, limit)
    for number, name, said in rows:
        last = number
        made = {column: _cleaned(column, value, clean) for column, value in said.items() if value}
        new = {column: value for column, value in made.items() if value != said[column]}
        if new:
            found += _told(place.table, name, said, new, counts)
            if write:
                _put(conn, place.table, number, new)
    if len(rows) == limit:
        return found, Place(place.table, last)
    return found, _next(place.table)


def _rows(
    conn: apsw.Connection, place: Place, limit: int
) -> list[tuple[int, str, dict[str, str | None]]]:
    """Number, name and words of the next rows; none of a table that is not there."""
    if place.table not in tables(conn):
        return []
    columns, row = WORDS[place.table].columns, _number(place.table)
    name = KEYS.get(place.table, "id")
    sql = f"""SELECT {row}, {name}, {", ".join(columns)} FROM {place.table}
      WHERE {row} > ? ORDER BY {row} LIMIT ?"""
    found = fetch.rows(conn, sql, place.after, limit)
    return [(r[0], str(r[1]), dict(zip(columns, r[2:], strict=True))) for r in found]


def _number(table: str) -> str:
    return "session_db_id" if table == "context_given" else "id"


def _next(table: str) -> Place | None:
    # Paths that a session was given the history of are no place for secrets.
    names = [name for name in WORDS if name != "context_given"]
    at = names.index(table) + 1
    return Place(names[at]) if at < len(names) else None


def _cleaned(column: str, value: str, clean: Clean) -> str:
    """A column's text without secrets; JSON stays JSON."""
    if column in JSON:
        try:
            whole = json.loads(value)
        except (ValueError, RecursionError):
            return str(clean(value))
        made = clean(whole)
        return value if made == whole else text.dumps(made)
    return str(clean(value))


def _told(
    table: str, name: str, said: Mapping[str, str | None], new: Mapping[str, str], counts: Counts
) -> Swept:
    patterns: Counter[str] = Counter()
    for column, made in new.items():
        patterns.update(counts(said[column] or "", made))
    shown = f"#{LETTERS[table]}{name}" if table in LETTERS else f"{table} {name}"
    return Swept(dict(patterns), {table: 1}, (shown,))


def _put(conn: apsw.Connection, table: str, number: int, new: Mapping[str, str]) -> None:
    values: dict[str, Any] = dict(new)
    if table == "observations" and "title" in values:
        values["title_key"] = title_key(values["title"])
    sets = ", ".join(f"{name} = ?" for name in values)
    conn.execute(f"UPDATE {table} SET {sets} WHERE id = ?", (*values.values(), number))


def iterate(conn: apsw.Connection, clean: Clean, counts: Counts, *, write: bool) -> Iterator[Swept]:
    """All of it, a step at a time, on one connection."""
    place: Place | None = begin()
    while place is not None:
        found, place = step(conn, place, clean, counts, write=write)
        yield found
