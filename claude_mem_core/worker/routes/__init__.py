"""The endpoints of the worker, one module a noun; each holds `ENDPOINTS`."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator

from claude_mem_core.worker.spec import Endpoint

MODULES = (
    "sessions",
    "legacy",
    "data",
    "tools",
    "memory",
    "ingest",
    "browse",
    "correct",
    "forget",
    "redact",
    "retention",
    "personal",
    "feedback",
    "dedup",
    "search",
    "context",
    "why",
    "settings",
    "models",
    "declared",
    "queue",
    "observe",
    "letters",
    "wellness",
    "tv",
    "work",
    "work_state",
    "logs",
    "admin",
    "projects",
    "regroup",
    "dependencies",
    "mcp",
    "info",
    "stream",
)


def all_endpoints() -> Iterator[Endpoint]:
    """Every endpoint of the core, in the order of the document."""
    for name in filter(_is_there, MODULES):
        module = importlib.import_module(f"{__name__}.{name}")
        yield from module.ENDPOINTS


def _is_there(name: str) -> bool:
    return importlib.util.find_spec(f"{__name__}.{name}") is not None
