"""Naming new and changed plugins to the user, once at each place.

Installed plugins load without a question, as people expect, but never silently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from claude_mem_core.plugins.entry import Package
from claude_mem_core.plugins.index import Found, installed, load_cache, save_cache

if TYPE_CHECKING:
    from claude_mem_core.paths import Paths

SECTION = "told"
MOST = 3  # more than these are named only: one line, not a page


def news(paths: Paths, place: str = "status", *, mark: bool = True) -> list[str]:
    """One sentence for each distribution that is new or changed since it was last told
    at `place` (`status`, `session`). `mark` notes that they are told now.
    """
    found = installed(paths.plugin_index)
    kept = load_cache(paths.plugin_index)
    told = _told(kept, place)
    now = {package.name: _mark(package) for package in found.packages}
    lines = [
        _sentence(package, told.get(package.name), found)
        for package in found.packages
        if told.get(package.name) != now[package.name]
    ]
    if mark and told != now:
        places = kept.get(SECTION)
        others = places if isinstance(places, dict) else {}
        save_cache(paths.plugin_index, {**kept, SECTION: {**others, place: now}})
    return lines


def few(found: list[str]) -> list[str]:
    """The news as they are; many of them as one line with the names only."""
    if len(found) <= MOST:
        return found
    names = ", ".join(line.split(" (")[0].split(" plugin ")[-1] for line in found)
    line = (
        f"{len(found)} new or changed plugins: {names}; `mem plugins` says what they offer"
        " and where they are from, `mem plugins block NAME` stops one"
    )
    return [line]


def _told(kept: dict[str, Any], place: str) -> dict[str, Any]:
    places = kept.get(SECTION)
    told = places.get(place) if isinstance(places, dict) else None
    return told if isinstance(told, dict) else {}


def _mark(package: Package) -> list[str]:
    return [package.version, package.record]


def _sentence(package: Package, before: Any, found: Found) -> str:
    offers = ", ".join(e.name for e in found.entries if e.package == package.name)
    change = "new plugin" if before is None else "changed plugin"
    source = f"{package.name} {package.version} ({package.origin})"
    return f"{change} {source} offers {offers}; `mem plugins block {package.name}` stops it"
