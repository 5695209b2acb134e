"""What the core expects of every provider, and every failure, over real HTTP.

The scripted server passes for cmem.ai.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from claude_mem_core.providing import origins
from claude_mem_core.testing import FailuresContract, ProviderContract
from claude_mem_core.testing.failures import KEY


class Pointed:
    settings: ClassVar[Mapping[str, Any]] = {"CLAUDE_MEM_PRO_MEMORY_KEY": f"cm_pro_{KEY}"}

    @pytest.fixture(autouse=True)
    def _gateway(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(origins, "GATEWAY_HOST", "127.0.0.1")

    def pointed(self, url: str) -> Mapping[str, Any]:
        return {"CLAUDE_MEM_PRO_MEMORY_BASE_URL": f"{url}/api/inference/v1"}


class TestProvider(Pointed, ProviderContract):
    plugin = "provider.cmem-pro"
    said = "hello there"


class TestFailures(Pointed, FailuresContract):
    plugin = "provider.cmem-pro"
