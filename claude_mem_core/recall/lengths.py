"""How long records are in words, from the index's own tables of sizes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import apsw

from claude_mem_core.store import fetch

_SQL = """
  SELECT id, sz FROM memory_index_docsize WHERE id IN (SELECT value FROM json_each(?))
"""


def lengths(conn: apsw.Connection, rowids: Sequence[int]) -> dict[int, int]:
    """Words of each record."""
    rows = fetch.rows(conn, _SQL, json.dumps(rowids))
    return {rowid: sum(varints(sizes)) for rowid, sizes in rows}


def average(conn: apsw.Connection) -> float:
    """Words of a record on average, at least 1."""
    block = fetch.value(conn, "SELECT block FROM memory_index_data WHERE id = 1") or b""
    rows, *words = varints(block) or [0]
    return max(1.0, sum(words) / max(1, rows))


def varints(block: bytes) -> list[int]:
    """The numbers of an FTS5 record: seven bits a byte, the highest first."""
    return list(_varints(block))


def _varints(block: bytes) -> Iterator[int]:
    value = 0
    for byte in block:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            yield value
            value = 0
