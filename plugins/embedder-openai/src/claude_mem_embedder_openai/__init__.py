"""Embeddings of a service that speaks OpenAI's form: Ollama, LM Studio, and others."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from claude_mem_core import hookimpl
from claude_mem_core.types import Embedder, Embedding, Setting, Values

URL = "CLAUDE_MEM_EMBEDDINGS_URL"
MODEL = "CLAUDE_MEM_EMBEDDINGS_MODEL"
KEY = "CLAUDE_MEM_EMBEDDINGS_API_KEY"
_setting = partial(Setting, scope="machine", sources=("file",), restart=True, area="search")


def open_service(settings: Values) -> Embedding:
    from claude_mem_embedder_openai.embedding import Service

    return Service(settings)


@hookimpl
def mem_embedders() -> Iterator[Embedder]:
    yield Embedder(
        name="openai",
        summary="a model behind an OpenAI-compatible address: Ollama, LM Studio, others",
        open=open_service,
        automatic=False,
    )


@hookimpl
def mem_settings() -> Iterator[Setting]:
    yield _setting(
        key=URL,
        default="http://127.0.0.1:11434/v1",
        help="Where the embeddings service is; the default is Ollama on this machine.",
    )
    yield _setting(
        key=MODEL, default="nomic-embed-text", help="The model that it is asked for."
    )
    yield _setting(key=KEY, type="secret", help="Its key; none for a service on this machine.")
