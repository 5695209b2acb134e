"""Near-duplicates: looking for them, the pairs, and a person's verdicts."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import Any

import apsw

from claude_mem_core.pipeline.alike import rules
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.store import Store, dedup, fetch, projects
from claude_mem_core.worker.spec import (
    ERROR,
    OBJECT,
    Call,
    Endpoint,
    Param,
    Right,
    choice,
    limit,
    project,
    record,
)

MOST = 500
EVERY = "SELECT project_id FROM totals WHERE kind = 'observation' AND n > 0 ORDER BY project_id"
NUMBER = Param("id", {"type": "string", "pattern": "^[0-9]{1,18}$"}, True, None, "7", "path")


async def scan(call: Call) -> dict[str, Any]:
    """Look through every project for titles that are alike; verdicts stay."""
    store, by = call.services.store, rules(call.services.settings.current())
    done: dict[str, Any] = {"projects": 0, "rekeyed": 0, "candidates": 0, "skipped": []}
    for (number,) in await store.aread(lambda conn: fetch.rows(conn, EVERY)):
        rekeyed, found = await _scanned(store, number, by)
        done["rekeyed"] += rekeyed
        if found is None:
            done["skipped"].append(number)
            continue
        done["projects"] += 1
        done["candidates"] += found
    return done


async def _scanned(store: Store, number: int, by: dedup.Rules) -> tuple[int, int | None]:
    """How many rows of a project got a key, and how many pairs were found in it."""
    rekeyed = await store.awrite(partial(dedup.rekey, project=number))
    find = partial(dedup.pairs, project=number, rules=by)
    found = await asyncio.to_thread(store.read, find)
    if found is None:
        return rekeyed, None
    await store.awrite(partial(dedup.note, project=number, found=found, now=now_ms()))
    return rekeyed, len(found)


async def candidates(call: Call) -> dict[str, Any]:
    """Pairs that may say the same, the likest first."""
    name, status = call.params["project"], call.params["status"]
    most = min(call.params["limit"], MOST)

    def read(conn: apsw.Connection) -> list[dict[str, Any]]:
        ids = json.dumps(projects.find(conn, name)) if name else None
        return dedup.candidates(conn, ids, status, most)

    return {"candidates": await call.services.store.aread(read)}


async def resolve(call: Call) -> dict[str, Any]:
    """Keep what a person says of a pair."""
    number, status = int(call.params["id"]), call.body["status"]
    await call.services.store.awrite(lambda conn: dedup.resolve(conn, number, status))
    return {"id": number, "status": status}


ENDPOINTS = (
    Endpoint(
        "POST", "/api/dedup/scan", scan, "Look for near-duplicates in every project",
        body=OBJECT, body_optional=True, right=Right.FULL, area="memory",
    ),
    Endpoint(
        "GET", "/api/dedup/candidates", candidates, "Pairs that may say the same",
        params=(project(), choice("status", "pending", "distinct", "dismissed"), limit(50, MOST)),
        area="memory",
    ),
    Endpoint(
        "POST", "/api/dedup/candidates/{id}/resolve", resolve, "Say what a pair is",
        params=(NUMBER,), body=record({"status": {"enum": ["distinct", "dismissed"]}}, "status"),
        answers={200: OBJECT, 404: ERROR}, area="memory",
    ),
)  # fmt: skip
