"""What the core expects of every provider."""

from __future__ import annotations

from claude_mem_core.testing import ProviderContract


class TestProvider(ProviderContract):
    plugin = "provider.{{name}}"
    said = "hello"
