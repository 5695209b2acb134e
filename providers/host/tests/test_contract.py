"""What the core expects of every provider, and every failure, over real HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from claude_mem_core.testing import CommandContract, FailuresContract, ProviderContract


class Pointed:
    def pointed(self, url: str) -> Mapping[str, Any]:
        return {"CLAUDE_MEM_HOST_OBSERVER_PORT": urlsplit(url).port}


class TestProvider(Pointed, ProviderContract):
    plugin = "provider.host"
    said = "hello there"


class TestFailures(Pointed, FailuresContract):
    plugin = "provider.host"


class TestCommand(CommandContract):
    plugin = "command.host-observer"
