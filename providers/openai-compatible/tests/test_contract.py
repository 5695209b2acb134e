"""What the core expects of every provider, and every failure, over real HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from claude_mem_core.testing import FailuresContract, ProviderContract
from claude_mem_core.testing.failures import KEY

BASE_URL = "CLAUDE_MEM_OPENAI_COMPAT_BASE_URL"
SETTINGS = {
    "CLAUDE_MEM_OPENAI_COMPAT_MODEL": "small",
    "CLAUDE_MEM_OPENAI_COMPAT_API_KEY": KEY,
}


class Pointed:
    settings: ClassVar[Mapping[str, Any]] = SETTINGS

    def pointed(self, url: str) -> Mapping[str, Any]:
        return {BASE_URL: f"{url}/v1"}


class TestProvider(Pointed, ProviderContract):
    plugin = "provider.openai-compatible"
    said = "hello there"


class TestFailures(Pointed, FailuresContract):
    plugin = "provider.openai-compatible"
