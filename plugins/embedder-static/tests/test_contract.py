"""What the core expects of every embedder, and what is this one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from claude_mem_embedder_static.embedding import StaticEmbedding

from claude_mem_core.testing import EmbedderContract
from claude_mem_core.types import Embedder, Embedding


class TestStatic(EmbedderContract):
    plugin = "embedder.static"

    def test_a_long_text_adds_up_like_its_parts(self, embedding: Embedding) -> None:
        once, often = embedding.embed(["invoice totals", "invoice totals " * 400])
        assert list(often) == [400 * value for value in once]

    def test_names_are_read_by_their_parts(self, embedding: Embedding) -> None:
        one, other = embedding.embed(["parseHTTPHeader", "parse http header"])
        assert list(one) == list(other)

    def test_rest_changes_no_vector(self, record: Embedder, values: Mapping[str, Any]) -> None:
        embedding = StaticEmbedding()
        text = " ".join(f"word{number}a" for number in range(1_500))
        first = embedding.embed([text])
        embedding.rest()
        assert embedding.embed([text]) == first

    def test_a_word_without_an_end_is_an_ordinary_text(self, embedding: Embedding) -> None:
        """One run of a script without spaces is one word, of any number of pieces."""
        for text in ("\u4e2d" * 2_000, "\u304c\u4e2d" * 1_000, "a" * 5_000):
            (vector,) = embedding.embed([text])
            assert len(list(vector)) == 256
