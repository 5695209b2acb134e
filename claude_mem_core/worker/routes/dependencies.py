"""What the installation stands on: a snapshot, and the state of the search by vectors."""

from __future__ import annotations

from typing import Any

import anyio.to_thread

from claude_mem_core.plugins.calls import call_sync, describe
from claude_mem_core.types import Query
from claude_mem_core.worker import dependencies
from claude_mem_core.worker.spec import Call, Endpoint, flag, record

WORDS = "keyword"  # the core's own backend, which is no search by vectors
NONE = "no search by vectors is installed; keyword search needs none"


async def health(call: Call) -> dict[str, Any]:
    """Every dependency with its state."""
    return await anyio.to_thread.run_sync(dependencies.snapshot, call.services)


async def vectors(call: Call) -> dict[str, Any]:
    """Whether there is a search by vectors. With `deep` it is asked something."""
    indexer = call.services.indexer
    names = sorted(({*indexer.backends} | {*indexer.faults}) - {WORDS})
    faults = {name: text for name, text in indexer.faults.items() if name != WORDS}
    if call.params["deep"]:
        faults |= await anyio.to_thread.run_sync(_asked, indexer, names)
    state = "error" if faults else "ok" if names else "not_configured"
    return {
        "status": state,
        "enabled": bool(names),
        "connected": bool(names) and not faults,
        "backends": names,
        "error": "; ".join(f"{name}: {text}" for name, text in sorted(faults.items())) or None,
        "note": None if names else NONE,
    }


def _asked(indexer: Any, names: list[str]) -> dict[str, str]:
    """Backends that gave no answer to a small question, and why."""
    found = {}
    for name in names:
        if name in indexer.backends:
            query = Query(text="memory", limit=1)
            outcome = call_sync(name, indexer.backends[name].search, query)
            if outcome.error is not None:
                found[name] = describe(outcome.error)
    return found


ENDPOINTS = (
    Endpoint(
        "GET", "/api/settings/dependency-health", health, "What the installation stands on",
        answers={
            200: record(
                {"status": {"enum": ["ok", "degraded"]}, "dependencies": {"type": "array"}},
                "status", "dependencies",
            )
        },
        area="settings",
    ),
    Endpoint(
        "GET", "/api/chroma/status", vectors, "Whether there is a search by vectors",
        params=(flag("deep", help="ask it something"),),
        answers={
            200: record(
                {"status": {"enum": ["ok", "error", "not_configured"]},
                 "enabled": {"type": "boolean"}},
                "status", "enabled",
            )
        },
        area="search",
    ),
)  # fmt: skip
