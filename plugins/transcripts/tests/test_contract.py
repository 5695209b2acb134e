"""The plugin keeps the contract of every plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from claude_mem_core.testing import PluginContract


class TestPlugin(PluginContract):
    plugin = "plugin.transcripts"
    settings: ClassVar[Mapping[str, Any]] = {"CLAUDE_MEM_CODEX_SUBAGENT_INGESTION": True}
