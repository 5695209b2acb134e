"""What the core expects of every provider, and every failure, over real HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from claude_mem_core.testing import FailuresContract, ProviderContract
from claude_mem_core.testing.failures import KEY


class Pointed:
    settings: ClassVar[Mapping[str, Any]] = {
        "CLAUDE_MEM_GEMINI_API_KEY": KEY,
        "CLAUDE_MEM_GEMINI_RATE_LIMITING_ENABLED": False,
    }

    def pointed(self, url: str) -> Mapping[str, Any]:
        return {"CLAUDE_MEM_GEMINI_BASE_URL": url}


class TestProvider(Pointed, ProviderContract):
    plugin = "provider.gemini"
    said = "hello there"


class TestFailures(Pointed, FailuresContract):
    plugin = "provider.gemini"
