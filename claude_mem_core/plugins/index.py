"""Which plugins are installed, without importing `importlib.metadata` when nothing changed.

The scan of all installed packages is kept in one JSON file. Its key is the search
path with the time each folder last changed, so installing and uninstalling outdate it
by themselves. The worker and the command line have different search paths; the file
keeps the last few views. A missing, old or damaged file only means a fresh scan.

The same file remembers which hooks a distribution offered when it last loaded well,
and which distributions were already named to the user.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from claude_mem_core import __version__
from claude_mem_core.plugins.entry import OWN, Entry, Found, Package

FORMAT = 1
VIEWS = 4
READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
LIMIT = 4_000_000
# A folder that changed this short a time ago may be in the middle of an install.
SETTLED_NS = 2_000_000_000

__all__ = ["Entry", "Found", "Package", "entries", "installed", "scan", "survey"]


def entries(cache: Path) -> list[Entry]:
    """The core's own plugins and the installed ones, from `cache` while it is true."""
    return [*OWN, *installed(cache).entries]


def scan(path: list[str] | None = None) -> list[Entry]:
    """Third-party entry points on `path`, read afresh."""
    return survey(path).entries


def survey(path: list[str] | None = None) -> Found:
    """Read the metadata of the installed packages; about 0.1 ms each."""
    from claude_mem_core.plugins.metadata import read_packages

    return read_packages(path)


def installed(cache: Path) -> Found:
    """What `survey` finds, from `cache` while the search path is unchanged."""
    key = fingerprint(sys.path)
    kept = load_cache(cache)
    views = kept.get("views")
    for view in views if isinstance(views, list) else []:
        found = _found(view, key)
        if found is not None:
            return found
    found = survey()
    if _settled(key):
        _keep_view(cache, key, found)
    return found


def _found(view: Any, key: list[list[Any]]) -> Found | None:
    try:
        if view["key"] != key:
            return None
        return Found(
            [Entry(*item) for item in view["entries"]],
            [Package(*item) for item in view["packages"]],
        )
    except (KeyError, TypeError):
        return None


def _keep_view(cache: Path, key: list[list[Any]], found: Found) -> None:
    fresh = {"key": key, "entries": found.entries, "packages": found.packages}
    kept = load_cache(cache)
    views = kept.get("views")
    older = [v for v in views if isinstance(v, dict)] if isinstance(views, list) else []
    older = [view for view in older if not _same_path(view.get("key"), key)]
    save_cache(cache, {**kept, "views": [fresh, *older][:VIEWS]})


def _same_path(one: Any, other: list[list[Any]]) -> bool:
    try:
        return [mark[0] for mark in one] == [mark[0] for mark in other]
    except (TypeError, IndexError, KeyError):
        return True  # damaged: let it go


def fingerprint(path: list[str]) -> list[list[Any]]:
    """A value that changes when a package on `path` is added or removed."""
    marks: list[list[Any]] = [[FORMAT, sys.version, __version__]]
    for folder in path:
        try:
            marks.append([folder, os.stat(folder or ".").st_mtime_ns])
        except OSError:
            continue
    return marks


def _settled(key: list[list[Any]]) -> bool:
    now = time.time_ns()
    return all(abs(now - mark[1]) > SETTLED_NS for mark in key[1:])


def load_cache(cache: Path) -> dict[str, Any]:
    """The cache file's content; empty when it is missing, damaged or not ours."""
    try:
        handle = os.open(cache, READ)
    except OSError:
        return {}
    with os.fdopen(handle, "rb") as file:
        try:
            value = json.loads(file.read(LIMIT)) if _ours(os.fstat(handle)) else {}
        except (OSError, ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def _ours(info: os.stat_result, kind: int = stat.S_IFREG) -> bool:
    """The file names modules to import, so nobody else may have written it."""
    if stat.S_IFMT(info.st_mode) != kind:
        return False
    if not hasattr(os, "geteuid"):
        return True
    return info.st_uid == os.geteuid() and not info.st_mode & 0o022


def save_cache(cache: Path, value: dict[str, Any]) -> bool:
    """Write the cache file whole or not at all; false when the disk refuses, or when the
    folder is not ours alone."""
    draft = cache.with_name(f"{cache.name}.{os.getpid()}-{time.time_ns()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    try:
        cache.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _ours(os.stat(cache.parent), stat.S_IFDIR):
            return False
        with os.fdopen(os.open(draft, flags, 0o600), "w") as file:
            json.dump(value, file)
        os.replace(draft, cache)
    except OSError:
        with suppress(OSError):
            draft.unlink()
        return False  # a read-only home costs time, not function
    return True
