"""What this installation stands on, and what of it is missing: a snapshot for people."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, requires, version
from typing import TYPE_CHECKING, Any

import apsw

from claude_mem_core import git
from claude_mem_core.pipeline.clock import now_ms

if TYPE_CHECKING:
    from claude_mem_core.pipeline.services import Services

CORE = "claude-mem-core"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
OK, MISSING, BROKEN = "ok", "missing", "broken"
NO_GIT = "a repository that was moved is not followed; install git"


def snapshot(services: Services) -> dict[str, Any]:
    """Every dependency with its state; call it in a thread, it reads package metadata.

    `status` is `degraded` when something that is needed is missing or broken.
    """
    found = [*_own(), *_packages(), *_plugins(services), *_indexes(services)]
    bad = any(row["required"] and row["state"] != OK for row in found)
    return {
        "status": "degraded" if bad else OK,
        "checkedAt": now_ms(),
        "dependencies": found,
    }


def _row(
    kind: str, name: str, state: str, version: str = "", detail: str = "", *, required: bool = True
) -> dict[str, Any]:
    return {
        "kind": kind, "name": name, "state": state, "version": version, "detail": detail,
        "required": required,
    }  # fmt: skip


def _own() -> Iterator[dict[str, Any]]:
    yield _row("runtime", "python", OK, platform.python_version())
    yield _row("runtime", "sqlite", OK, apsw.sqlite_lib_version())
    words = apsw.compile_options
    state = OK if "ENABLE_FTS5" in words else MISSING
    yield _row("runtime", "sqlite-fts5", state, apsw.sqlite_lib_version())
    place = git.program()
    state, detail = (OK, place) if place else (MISSING, NO_GIT)
    yield _row("program", "git", state, detail=detail, required=False)


def _packages() -> Iterator[dict[str, Any]]:
    """The packages that the core's own metadata names, extras left out."""
    try:
        wanted = requires(CORE) or []
    except PackageNotFoundError:
        yield _row("package", CORE, MISSING, detail="its metadata is not installed")
        return
    for text in wanted:
        name = NAME.match(text)
        if name and "extra ==" not in text:
            yield _package(name.group())


def _package(name: str) -> dict[str, Any]:
    try:
        distribution(name)
        return _row("package", name, OK, version(name))
    except PackageNotFoundError:
        return _row("package", name, MISSING, detail=f"pip install {name}")


def _plugins(services: Services) -> Iterator[dict[str, Any]]:
    for name, plugin in sorted(services.registry.plugins.items()):
        state = BROKEN if plugin.error else OK
        yield _row("plugin", name, state, plugin.version, plugin.error or plugin.state.value,
                   required=False)  # fmt: skip


def _indexes(services: Services) -> Iterator[dict[str, Any]]:
    faults = services.indexer.faults
    for name in sorted({*services.indexer.backends, *faults}):
        state = BROKEN if name in faults else OK
        yield _row("search", name, state, detail=faults.get(name, ""), required=name == "keyword")
