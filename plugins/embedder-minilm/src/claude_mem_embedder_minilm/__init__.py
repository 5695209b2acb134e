"""The better offline embedder: all-MiniLM-L6-v2, its weights in a package."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import Embedder, Embedding, Values


def open_model(_: Values) -> Embedding:
    from claude_mem_embedder_minilm.embedding import MiniLM

    return MiniLM()


@hookimpl
def mem_embedders() -> Iterator[Embedder]:
    yield Embedder(
        name="minilm",
        summary="all-MiniLM-L6-v2 on onnxruntime: better, offline, catches up when idle",
        open=open_model,
        apart=True,
    )
