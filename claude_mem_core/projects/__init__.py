"""Identity of a project: a place, read from `.git` without running git, never a name."""

from __future__ import annotations

from claude_mem_core.projects.markers import Narrowed, narrowed
from claude_mem_core.projects.place import GENERAL, Place, excluded, place_of

__all__ = ["GENERAL", "Narrowed", "Place", "excluded", "narrowed", "place_of"]
