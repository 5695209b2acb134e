"""What the core expects of every search backend."""

from __future__ import annotations

from claude_mem_core.testing import SearchBackendContract


class TestVector(SearchBackendContract):
    plugin = "search.vector"
