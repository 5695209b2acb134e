"""What the core expects of every embedder, and that the pieces are BERT's."""

from __future__ import annotations

from claude_mem_embedder_minilm.pieces import LONGEST, Pieces

from claude_mem_core.testing import EmbedderContract


class TestMiniLM(EmbedderContract):
    plugin = "embedder.minilm"


def test_pieces_are_those_of_the_model() -> None:
    pieces = Pieces()
    assert pieces.numbers("Hello, world!") == [101, 7592, 1010, 2088, 999, 102]
    assert pieces.numbers("Café embeddings") == [101, 7668, 7861, 8270, 4667, 2015, 102]
    assert pieces.numbers("") == [101, 102]
    assert len(pieces.numbers("word " * 5_000)) == LONGEST
