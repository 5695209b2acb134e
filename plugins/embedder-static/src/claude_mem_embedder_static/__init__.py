"""The small embedder: a table of word vectors inside the package, no network."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import Embedder, Embedding, Values


def open_table(_: Values) -> Embedding:
    from claude_mem_embedder_static.embedding import StaticEmbedding

    return StaticEmbedding()


@hookimpl
def mem_embedders() -> Iterator[Embedder]:
    yield Embedder(
        name="static",
        summary="a table of word vectors in the package: English, at once, offline",
        open=open_table,
        quick=True,
    )
