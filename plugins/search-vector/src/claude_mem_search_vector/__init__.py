"""Search by meaning: vectors of any installed embedder, in the same database file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from claude_mem_core import hookimpl
from claude_mem_core.types import SearchBackend, SearchIndex, Setting, Values


def open_index(store: Any, values: Values) -> SearchIndex:
    from claude_mem_search_vector.index import VectorIndex

    return VectorIndex(store, values)


@hookimpl
def mem_search_backends() -> Iterator[SearchBackend]:
    yield SearchBackend(
        name="vector",
        summary="finds what means the same in other words",
        order=20,
        open=open_index,
    )


@hookimpl
def mem_settings() -> Iterator[Setting]:
    yield Setting(
        key="CLAUDE_MEM_EMBEDDER",
        default="auto",
        scope="machine",
        sources=("file",),
        restart=True,
        area="search",
        help="What turns text into vectors, by name; auto: the best that is installed and"
        " sends nothing away; quick: only one that takes no time.",
    )
