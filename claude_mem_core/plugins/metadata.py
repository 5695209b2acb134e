"""Reading the metadata of installed packages: the slow part of finding plugins."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from typing import Any

from claude_mem_core.plugins.entry import GROUP, OWN_PACKAGE, Entry, Found, Package

# What a half-written or hand-edited `.dist-info` makes importlib.metadata raise.
DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError)


def read_packages(path: list[str] | None = None) -> Found:
    """Entry points of our group on `path`, with the packages that ship them."""
    entries: list[Entry] = []
    packages: list[Package] = []
    for package, points in _offering(path):
        packages.append(package)
        entries += (Entry(*point, package.name, package.version) for point in points)
    return Found(sorted(entries), sorted(packages))


def _offering(path: list[str] | None) -> Iterator[tuple[Package, list[tuple[str, str]]]]:
    seen = {OWN_PACKAGE}
    for found in distributions() if path is None else distributions(path=path):
        try:
            if GROUP not in (found.read_text("entry_points.txt") or ""):
                continue
            package = describe(found)
            points = [(p.name, p.value) for p in found.entry_points.select(group=GROUP)]
        except DAMAGED:
            continue
        # The first of a name on the path is the one that is imported.
        if points and package.name not in seen:
            seen.add(package.name)
            yield package, points


def describe(found: Distribution) -> Package:
    """Name, version, digest and origin of an installed distribution."""
    record = found.read_text("RECORD")
    digest = hashlib.sha256(record.encode()).hexdigest() if record else ""
    name, version = normal(_field(found, "Name")), _field(found, "Version")
    return Package(name, version, digest, origin(found))


def _field(found: Distribution, name: str) -> str:
    """Not `metadata[name]`, which warns from Python 3.12 on when there is none."""
    values: list[str] = found.metadata.get_all(name) or []
    if not values or not values[0]:
        raise ValueError(f"no {name}")
    return values[0]


def normal(name: str) -> str:
    """A distribution's name as everybody may compare it."""
    dashed = name.lower().replace("_", "-").replace(".", "-")
    return "-".join(filter(None, dashed.split("-")))


def origin(found: Distribution) -> str:
    """Where a distribution came from, as its installer wrote it down."""
    try:
        direct: Any = json.loads(found.read_text("direct_url.json") or "{}")
        url = str(direct.get("url", ""))
        editable = bool(direct.get("dir_info", {}).get("editable"))
    except DAMAGED:
        return "unknown"
    if url:
        return f"editable, {url}" if editable else url
    installer = (found.read_text("INSTALLER") or "").strip()
    return f"package index, by {installer}" if installer else "unknown"
