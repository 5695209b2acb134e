"""Modes: what kinds of memories are made, in which words and language."""

from __future__ import annotations

from claude_mem_core.modes.loading import Modes
from claude_mem_core.modes.profile import Concept, Mode, Type

__all__ = ["Concept", "Mode", "Modes", "Type"]
