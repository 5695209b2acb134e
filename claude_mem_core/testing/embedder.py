"""The contract of embedders: texts in, vectors out.

class TestMine(EmbedderContract):
    plugin = "embedder.mine"
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pytest

from claude_mem_core.testing.offer import RecordContract
from claude_mem_core.types import Embedder, Embedding

PAIR = ("The login page rejects valid passwords", "Sign-in fails with a correct password")
OTHER = "Bananas are shipped in yellow boxes"


class EmbedderContract(RecordContract[Embedder]):
    """Inherit and name the plugin."""

    hook: ClassVar[str] = "mem_embedders"
    kind: ClassVar[type[Any]] = Embedder

    @pytest.fixture
    def embedding(self, record: Embedder, values: Mapping[str, Any]) -> Embedding:
        """The embedder, opened."""
        return record.open(values)

    def test_vectors_have_the_stated_length(self, embedding: Embedding) -> None:
        texts = ["", "one", "ümlaut 漢字", "x" * 20_000]
        vectors = embedding.embed(texts)
        assert [len(vector) for vector in vectors] == [embedding.dimensions] * len(texts)
        assert all(math.isfinite(value) for vector in vectors for value in vector)

    def test_no_text_no_vector(self, embedding: Embedding) -> None:
        assert len(embedding.embed([])) == 0

    def test_a_vector_depends_on_its_text_only(self, embedding: Embedding) -> None:
        alone = embedding.embed([PAIR[0]])[0]
        beside = embedding.embed([OTHER, PAIR[0]])[1]
        assert cosine(alone, beside) == pytest.approx(1, abs=1e-4)

    def test_like_texts_are_near(self, embedding: Embedding) -> None:
        one, two, other = embedding.embed([*PAIR, OTHER])
        assert cosine(one, two) > cosine(one, other)


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Likeness of two vectors, 1 for the same direction."""
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    return dot / (math.hypot(*one) * math.hypot(*other))
