"""Settings: declared once, read from files as people really have them, set safely."""

from __future__ import annotations

from claude_mem_core.settings.declared import CORE
from claude_mem_core.settings.source import Settings, SettingsSource

__all__ = ["CORE", "Settings", "SettingsSource"]
