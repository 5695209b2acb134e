"""What the core expects of every provider, and every failure, over real HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from claude_mem_core.testing import FailuresContract, ProviderContract
from claude_mem_core.testing.failures import KEY


class Pointed:
    settings: ClassVar[Mapping[str, Any]] = {"ANTHROPIC_API_KEY": KEY}

    def pointed(self, url: str) -> Mapping[str, Any]:
        return {"CLAUDE_MEM_CLAUDE_BASE_URL": url}


class TestProvider(Pointed, ProviderContract):
    plugin = "provider.claude"
    said = "hello there"


class TestFailures(Pointed, FailuresContract):
    plugin = "provider.claude"
