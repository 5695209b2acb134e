"""What a plugin author needs for tests: a contract suite for each kind.

Inherit the suite of your kind, name your plugin, and pytest runs what the core
expects of it; the core's own plugins pass the same. Fixtures come with

    pytest_plugins = ["claude_mem_core.testing.fixtures"]

The names are looked up late, so that a suite imports only what it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from claude_mem_core.testing.command import CommandContract
    from claude_mem_core.testing.context import ContextContract
    from claude_mem_core.testing.embedder import EmbedderContract
    from claude_mem_core.testing.failures import FailuresContract
    from claude_mem_core.testing.fake_models import Call, FakeModels, Talk, Turn
    from claude_mem_core.testing.fake_site import FakeSite
    from claude_mem_core.testing.host import HostContract
    from claude_mem_core.testing.installer import GoldenInstallerContract, InstallerContract
    from claude_mem_core.testing.mcp import McpContract
    from claude_mem_core.testing.observer import ObserverContract
    from claude_mem_core.testing.plugin import PluginContract
    from claude_mem_core.testing.policy import PolicyContract
    from claude_mem_core.testing.provider import ProviderContract
    from claude_mem_core.testing.redactor import RedactorContract
    from claude_mem_core.testing.routes import RoutesContract
    from claude_mem_core.testing.search import SearchBackendContract
    from claude_mem_core.testing.sink import SinkContract
    from claude_mem_core.testing.tool import ToolContract
    from claude_mem_core.testing.transcripts import TranscriptsContract

__all__ = [
    "Call",
    "CommandContract",
    "ContextContract",
    "EmbedderContract",
    "FailuresContract",
    "FakeModels",
    "FakeSite",
    "GoldenInstallerContract",
    "HostContract",
    "InstallerContract",
    "McpContract",
    "ObserverContract",
    "PluginContract",
    "PolicyContract",
    "ProviderContract",
    "RedactorContract",
    "RoutesContract",
    "SearchBackendContract",
    "SinkContract",
    "Talk",
    "ToolContract",
    "TranscriptsContract",
    "Turn",
]

_HOMES = {
    "SearchBackendContract": "search",
    "FakeSite": "fake_site",
    "GoldenInstallerContract": "installer",
    **dict.fromkeys(("Call", "FakeModels", "Talk", "Turn"), "fake_models"),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES.get(name) or name.removesuffix("Contract").lower()
    return getattr(import_module(f"{__name__}.{home}"), name)
