"""Settings: declared once, read from files as people really have them, set safely."""

from __future__ import annotations

from claude_mem_core.settings.declared import CORE
from claude_mem_core.settings.model import Settings
from claude_mem_core.settings.source import SettingsSource

__all__ = ["CORE", "Settings", "SettingsSource"]
