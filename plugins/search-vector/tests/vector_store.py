"""A store with vectors for tests: real embedders, real SQLite, no worker."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
from claude_mem_search_vector.index import VectorIndex

from claude_mem_core.types import DocKind, Embedder, Query

WORDS = ("login", "invoice", "deploy", "cache", "parser", "retry", "socket", "colour")
DIMENSIONS = len(WORDS)


class Counting:
    """Counts a few words: a vector says just what is in a text."""

    dimensions = DIMENSIONS

    def __init__(self, model: str = "1") -> None:
        self.model = model
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.seen += texts
        lower = [text.lower() for text in texts]
        return [[float(text.count(word)) + 0.01 for word in WORDS] for text in lower]


def record(name: str, embedding: Counting, **more: Any) -> Embedder:
    return Embedder(name=name, summary="counts words", open=lambda _: embedding, **more)


def opened(store: Any, *embedders: Embedder, wanted: str = "auto") -> VectorIndex:
    index = VectorIndex(store, {"CLAUDE_MEM_EMBEDDER": wanted})
    index.quiet_s = 0.0
    index.use(embedders)
    return index


def fed(index: VectorIndex) -> VectorIndex:
    while index.feed(100):
        pass
    return index


def found(index: VectorIndex, text: str, **filters: Any) -> list[int]:
    query = Query(text=text, kinds=(DocKind.OBSERVATION,), **filters)
    return [hit.id for hit in index.search(query).hits]


def execute(store: Any, sql: str, *values: Any) -> None:
    store.write(lambda conn: conn.execute(sql, values).fetchall()).result(30)


def value(store: Any, sql: str, *values: Any) -> Any:
    return store.read(lambda conn: next(conn.execute(sql, values))[0])


def observe(store: Any, *titles: str, project: int = 1, **columns: Any) -> list[int]:
    """Keep observations of one session; returns their ids."""

    def write(conn: apsw.Connection) -> list[int]:
        conn.execute(
            "INSERT OR IGNORE INTO sdk_sessions (content_session_id, memory_session_id, project,"
            " project_id, started_at, started_at_epoch) VALUES ('c', 'm', 'p', 1, '', 0)"
        )
        names = ["title", "project_id", *columns]
        marks = ", ".join("?" * len(names))
        sql = (
            f"INSERT INTO observations ({', '.join(names)}, memory_session_id, project, type,"
            f" created_at, created_at_epoch) VALUES ({marks}, 'm', 'p', 'bugfix', '', 1000)"
            " RETURNING id"
        )
        rows = [(title, project, *columns.values()) for title in titles]
        return [int(next(conn.execute(sql, row))[0]) for row in rows]

    return store.write(write).result(30)  # type: ignore[no-any-return]


def path_of(folder: Path) -> Path:
    return folder / "memory.db"


def open_counting(_: Any) -> Counting:
    """As a package offers it: found by its name in another process."""
    sys.stdout.write("what a library says\n")
    return Counting("apart")


class Failing(Counting):
    """Fails at a certain text."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if "explode" in texts:
            raise ValueError("no such word")
        return super().embed(texts)


def open_failing(_: Any) -> Failing:
    return Failing()


def open_broken(_: Any) -> Counting:
    raise RuntimeError("no weights")
