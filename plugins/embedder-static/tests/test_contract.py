"""What the core expects of every embedder, and what is this one's own."""

from __future__ import annotations

from claude_mem_core.testing import EmbedderContract


class TestStatic(EmbedderContract):
    plugin = "embedder.static"
