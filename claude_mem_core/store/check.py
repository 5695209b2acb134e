"""Is the database sound? What SQLite says of it, what is missing, whether events add up."""

from __future__ import annotations

from collections.abc import Callable

import apsw
import attrs

from claude_mem_core.errors import StoreDamaged
from claude_mem_core.store import fetch, shape
from claude_mem_core.store.verify import verify

MOST = 20  # complaints that are shown of one kind
# Damage of the search index only; it is made anew from the tables.
INDEX_MARKS = ("FTS5", "memory_index", "memory_words")


@attrs.frozen
class Finding:
    """The outcome of one check: what is wrong, in sentences; none when all is well."""

    name: str
    faults: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.faults


def check(conn: apsw.Connection) -> list[Finding]:
    """Every check, the cheap ones first; nothing is written."""
    checks: dict[str, Callable[[apsw.Connection], list[str]]] = {
        "pages": quick,
        "integrity": integrity,
        "keys": keys,
        "layout": layout,
        "accounting": lambda conn: list(verify(conn).off),
    }
    return [finding(name, fn, conn) for name, fn in checks.items()]


def finding(
    name: str, fn: Callable[[apsw.Connection], list[str]], conn: apsw.Connection
) -> Finding:
    """The outcome of `fn`; a check that damage stops has found it."""
    try:
        return Finding(name, tuple(fn(conn)))
    except (apsw.CorruptError, apsw.NotADBError) as error:
        return Finding(name, (str(error),))


def quick(conn: apsw.Connection) -> list[str]:
    """Whether every page makes sense."""
    return _complaints(conn, "PRAGMA quick_check(20)")


def integrity(conn: apsw.Connection) -> list[str]:
    """Whether every index agrees with its table."""
    return _complaints(conn, "PRAGMA integrity_check(20)")


def keys(conn: apsw.Connection) -> list[str]:
    """Rows that point to rows that are not there."""
    found: dict[tuple[str, str], int] = {}
    for table, _, parent, _ in fetch.rows(conn, "PRAGMA foreign_key_check"):
        found[table, parent] = found.get((table, parent), 0) + 1
    return [f"{n} rows of {table} have no row in {parent}" for (table, parent), n in found.items()]


def layout(conn: apsw.Connection) -> list[str]:
    """Tables, columns, indexes and triggers that are gone."""
    try:
        return [f"{part.type} {part.name} is gone" for part in shape.lost(conn)]
    except StoreDamaged as error:
        return [str(error)]


def only_parts(findings: list[Finding]) -> bool:
    """Whether nothing is wrong but lost indexes, triggers or views."""
    parts = ("index ", "trigger ", "view ")
    return all(
        one.name == "layout" and all(text.startswith(parts) for text in one.faults)
        for one in findings
        if not one.ok
    )


def only_the_index(findings: list[Finding]) -> bool:
    """Whether all that is damaged can be made anew from the tables."""
    faults = [text for finding in findings for text in finding.faults]
    return all(any(mark in text for mark in INDEX_MARKS) for text in faults)


def _complaints(conn: apsw.Connection, pragma: str) -> list[str]:
    texts = [str(text) for (text,) in fetch.rows(conn, pragma)]
    return [text for text in texts if text != "ok"][:MOST]
