"""Which hooks a distribution offered when it last loaded well.

A plugin that can't be imported can't say what it is. If it filtered or refused text
before, recording must stop now; that is why this outlives the process.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from claude_mem_core.plugins.index import load_cache, save_cache

SECTION = "offers"


class Offers:
    """Hooks by distribution and entry point, kept in the index cache if one is given."""

    def __init__(self, cache: Path | None = None) -> None:
        self._cache = cache
        self._known: dict[str, Any] | None = None

    def of(self, package: str, name: str) -> frozenset[str]:
        """What `name` of `package` offered; empty when it never loaded well."""
        hooks = self._all().get(_key(package, name), ())
        return frozenset(hook for hook in hooks if isinstance(hook, str))

    def remember(self, package: str, name: str, hooks: frozenset[str]) -> None:
        """Note a good load; written only when it says something new."""
        key, value = _key(package, name), sorted(hooks)
        if self._all().get(key) == value:
            return
        self._all()[key] = value
        if self._cache is not None:
            kept = load_cache(self._cache)
            save_cache(self._cache, {**kept, SECTION: {**_section(kept), key: value}})

    def _all(self) -> dict[str, Any]:
        if self._known is None:
            kept = load_cache(self._cache) if self._cache is not None else {}
            self._known = _section(kept)
        return self._known


def _section(kept: dict[str, Any]) -> dict[str, Any]:
    found = kept.get(SECTION)
    return found if isinstance(found, dict) else {}


def _key(package: str, name: str) -> str:
    return f"{package}:{name}"
