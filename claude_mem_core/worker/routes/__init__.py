"""The endpoints of the worker, one module a noun; each holds `ENDPOINTS`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from claude_mem_core.worker.spec import Endpoint

MODULES = (
    "sessions",
    "legacy",
    "data",
    "tools",
    "memory",
    "search",
    "context",
    "settings",
    "queue",
    "logs",
    "admin",
    "info",
    "stream",
)


def all_endpoints() -> Iterator[Endpoint]:
    """Every endpoint of the core, in the order of the document."""
    for name in MODULES:
        module = importlib.import_module(f"{__name__}.{name}")
        yield from module.ENDPOINTS
