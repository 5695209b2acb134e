"""Does the word index hold what the tables hold? Counted, nothing is written."""

from __future__ import annotations

import apsw

from claude_mem_core.recall import feed
from claude_mem_core.recall.documents import KINDS, rowid_of
from claude_mem_core.store import fetch

MISSING = """
  SELECT count(*) FROM {table} t
  WHERE NOT EXISTS (SELECT 1 FROM memory_index_docsize d WHERE d.id = t.id + ?)
"""
EXTRA = """
  SELECT count(*) FROM memory_index_docsize d WHERE d.id >= ?1 AND d.id < ?2
    AND NOT EXISTS (SELECT 1 FROM {table} t WHERE t.id = d.id - ?1)
"""


def audit(conn: apsw.Connection) -> list[str]:
    """What is wrong with the index; records that only wait for it are no fault."""
    if not feed.ready(conn):
        return ["the word index is incomplete; the worker makes it anew"]
    if feed.pending(conn):
        return []
    missing = sum(_count(conn, MISSING, number) for number in range(len(KINDS)))
    extra = sum(_count(conn, EXTRA, number) for number in range(len(KINDS)))
    faults = [f"{missing} records are not in the word index"] if missing else []
    return faults + ([f"the word index holds {extra} records that are gone"] if extra else [])


def waiting(conn: apsw.Connection) -> int:
    """How many records the index has yet to take in."""
    return feed.pending(conn)


def _count(conn: apsw.Connection, sql: str, number: int) -> int:
    kind = KINDS[number]
    first, after = rowid_of(kind, 0), rowid_of(kind, 0) + (1 << 48)
    values = (first,) if sql is MISSING else (first, after)
    return int(fetch.value(conn, sql.format(table=feed.TABLES[kind]), *values))
