"""The table of one model's vectors, in the same file as the memories.

A table of its own kind of sqlite-vec was measured too: reading 200 given vectors of it
costs 65 ms, for it keeps them in blocks of a thousand. So this is a plain table, in the
order of project and record, which sqlite-vec's functions read; it needs no extension to
be copied, checked or mended.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import apsw
import attrs

from claude_mem_core.types import DocKind
from claude_mem_search_vector.limits import Limits
from claude_mem_search_vector.numbers import packed, signs
from claude_mem_search_vector.sqlite import taught
from claude_mem_search_vector.texts import KINDS, TABLES, Text, bounds

MODELS = """
  CREATE TABLE IF NOT EXISTS memory_vectors (
    id INTEGER PRIMARY KEY, model TEXT NOT NULL UNIQUE, dimensions INTEGER NOT NULL)
"""
_MADE = """
  CREATE TABLE IF NOT EXISTS {0} (
    project_id INTEGER NOT NULL, id INTEGER NOT NULL, created_at_epoch INTEGER NOT NULL,
    host TEXT NOT NULL, type TEXT NOT NULL, vector BLOB, signs BLOB,
    PRIMARY KEY (project_id, id)) WITHOUT ROWID;
  CREATE UNIQUE INDEX IF NOT EXISTS {0}_by_id ON {0}(id, project_id, signs);
"""
_THERE = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'memory_vectors%'"
_NEAREST = """
  SELECT v.id, 1 - vec_distance_cosine(vec_int8(v.vector), vec_int8(?)) AS likeness
  FROM {0} v WHERE {1} AND v.vector IS NOT NULL ORDER BY likeness DESC, v.id DESC LIMIT ?
"""


@attrs.frozen
class VectorTable:
    """The vectors of one model; all functions want a connection of the store."""

    number: int
    model: str
    dimensions: int

    @property
    def name(self) -> str:
        """Its name in the database."""
        return f"memory_vectors_{self.number}"

    def put(
        self, conn: apsw.Connection, texts: Sequence[Text], vectors: Sequence[Sequence[float]]
    ) -> list[tuple[int, int, bytes | None]]:
        """Keep vectors; gives number, project and signs of each."""
        rows = []
        for text, vector in zip(texts, vectors, strict=True):
            small = packed(vector)
            bits = signs(small) if small else None
            rows.append((text.project_id, text.number, text.created_ms, text.host, text.type,
                         small, bits))  # fmt: skip
        self.drop(conn, [text.number for text in texts])
        conn.executemany(f"INSERT INTO {self.name} VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        return [(row[1], row[0], row[6]) for row in rows]

    def drop(self, conn: apsw.Connection, numbers: Sequence[int]) -> int:
        """Forget the vectors of these records; return how many there were."""
        sql = f"SELECT project_id, id FROM {self.name} WHERE id IN (SELECT value FROM json_each(?))"
        there = conn.execute(sql, (json.dumps(numbers),)).fetchall()
        conn.executemany(f"DELETE FROM {self.name} WHERE project_id = ? AND id = ?", there)
        return len(there)

    def nearest(
        self, conn: apsw.Connection, vector: bytes, where: Limits, most: int
    ) -> dict[int, float]:
        """The records most like `vector`, best first, by looking at all within `where`."""
        sql = _NEAREST.format(self.name, where.sql)
        found: list[Any] = taught(conn).execute(sql, (vector, *where.values, most)).fetchall()
        return dict(found)

    def among(self, numbers: Sequence[int], where: Limits) -> Limits:
        """`where`, and one of these records."""
        sql = f"v.id IN (SELECT value FROM json_each(?)) AND {where.sql}"
        return Limits(sql, (json.dumps(numbers), *where.values))

    def count(self, conn: apsw.Connection) -> int:
        """How many records it covers."""
        return int(next(conn.execute(f"SELECT count(*) FROM {self.name}"))[0])

    def all_signs(self, conn: apsw.Connection) -> Iterator[tuple[int, int, bytes | None]]:
        """Number, project and signs of every record."""
        yield from conn.execute(f"SELECT id, project_id, signs FROM {self.name} ORDER BY id")

    def missing(
        self, conn: apsw.Connection, kind: DocKind, before: int, most: int
    ) -> list[int]:
        """Records of a kind without a vector, newest first, older than `before`."""
        first, last = bounds(kind)
        sql = (
            f"SELECT o.id + ?1 FROM {TABLES[kind]} o WHERE o.id < ?2 AND NOT EXISTS"
            f" (SELECT 1 FROM {self.name} v WHERE v.id = o.id + ?1)"
            " ORDER BY o.id DESC LIMIT ?3"
        )
        values = (first, min(before, last) - first, most)
        return [row[0] for row in conn.execute(sql, values)]

    def drop_strangers(self, conn: apsw.Connection) -> None:
        """Forget the vectors whose record is gone."""
        for kind in KINDS:
            first, last = bounds(kind)
            sql = (
                f"SELECT v.id FROM {self.name} v WHERE v.id BETWEEN ?1 AND ?2 AND NOT EXISTS"
                f" (SELECT 1 FROM {TABLES[kind]} o WHERE o.id = v.id - ?1)"
            )
            self.drop(conn, [row[0] for row in conn.execute(sql, (first, last))])


def made(conn: apsw.Connection, model: str, dimensions: int) -> VectorTable:
    """The table of a model; made when it is not there (on the writing connection)."""
    conn.execute(MODELS)
    values = (model, dimensions)
    conn.execute(
        "INSERT OR IGNORE INTO memory_vectors (model, dimensions) VALUES (?, ?)", values
    )
    found = next(table for table in known(conn) if table.model == model)
    conn.execute(_MADE.format(found.name)).fetchall()
    return found


def known(conn: apsw.Connection) -> list[VectorTable]:
    """Every model that has been used here."""
    if not conn.execute(f"{_THERE} AND name = 'memory_vectors'").fetchall():
        return []
    return [VectorTable(*row) for row in conn.execute("SELECT * FROM memory_vectors")]


def there(conn: apsw.Connection) -> list[VectorTable]:
    """The tables that can be read."""
    names = {row[0] for row in conn.execute(_THERE)}
    return [table for table in known(conn) if table.name in names]


def forgotten(conn: apsw.Connection, table: VectorTable) -> None:
    """Drop a model with all its vectors."""
    conn.execute(f"DROP TABLE IF EXISTS {table.name}")
    conn.execute("DELETE FROM memory_vectors WHERE id = ?", (table.number,))
