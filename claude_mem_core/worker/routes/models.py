"""Model services over the API: how they stand, a test call, and what they cost."""

from __future__ import annotations

import time
from typing import Any

import anyio.to_thread
import apsw
import attrs

from claude_mem_core.errors import ProviderError
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.store import fetch
from claude_mem_core.store import text as texts
from claude_mem_core.worker.spec import (
    OBJECT,
    Call,
    Endpoint,
    Param,
    Right,
    choice,
    integer,
    record,
)

DAY_MS = 86_400_000
NAME = Param(
    "name", {"type": "string", "pattern": "^[a-z][a-z0-9-]{0,60}$"}, True, where="path"
)
STATE = record({"provider": {"type": "string"}, "state": {"type": "string"}}, "provider")
TESTED = record({"ok": {"type": "boolean"}, "text": {"type": "string"}}, "ok")
BUILTIN = {"provider": "builtin", "serving": "builtin", "state": "builtin"}
MADE = """
  SELECT count(*) FROM observations
  WHERE created_at_epoch >= ? AND coalesce(generated_by_model, 'builtin') <> 'builtin'
"""
LABELS = "SELECT label FROM projects WHERE id = ?"
SESSIONS = "SELECT content_session_id, project FROM sdk_sessions WHERE id = ?"


async def state(call: Call) -> dict[str, Any]:
    """Who makes the memories, what keeps the chosen provider from it, today's budget."""
    return await call.services.models.state() or dict(BUILTIN)


async def names(call: Call) -> dict[str, Any]:
    """Installed providers, and the names of the settings that hold their keys."""
    from claude_mem_core.types import Provider

    found = call.services.registry.records("mem_providers", Provider)
    return {
        "providers": [{"name": r.name, "summary": r.summary, "keys": r.keys} for r in found]
    }


async def test(call: Call) -> dict[str, Any]:
    """Ask a provider for one word; a good answer ends whatever held it."""
    begun = time.perf_counter()
    try:
        reply = await call.services.models.dispatcher.test(call.params["name"])
    except ProviderError as error:
        from claude_mem_core.providing import advice

        name = call.params["name"]
        found = await _candidate(call, name)
        cure = error.action or advice.remedy(error.failure, found, name)
        return {"ok": False, "failure": error.failure.value, "text": str(error), "cure": cure}
    call.services.loop.wake()
    return {
        "ok": True, "text": reply.text[:200], "model": reply.model,
        "usage": attrs.asdict(reply.usage), "ms": round((time.perf_counter() - begun) * 1000),
    }  # fmt: skip


async def _candidate(call: Call, name: str) -> Any:
    try:
        return await call.services.models.dispatcher.candidate(name)
    except ProviderError:
        return None


async def reset(call: Call) -> dict[str, Any]:
    """Forget what held a provider, and let its keys go to where it points now."""
    from claude_mem_core.providing.origins import origin_of

    dispatcher, name = call.services.models.dispatcher, call.params["name"]
    candidate = await _candidate(call, name)
    for each in candidate.credentials if candidate else ():
        if each.key and (origin := origin_of(candidate.address)):
            dispatcher.book.warm(dispatcher.book.fingerprint(each.key))
            dispatcher.book.bind(name, each.key, origin)
    dispatcher.patience.reset(name)
    call.services.loop.wake()
    return {"success": True}


async def usage(call: Call) -> dict[str, Any]:
    """Tokens, calls and cost from a day on, by day, session, project, provider or model."""
    models = call.services.models
    by, begin = call.params["by"], _begin(call.params["days"])
    since = texts.day(begin)
    if not models.is_used:
        return {
            "since": since, "by": by, "items": [], "today": None, "budget": [], "memories": 0,
        }  # fmt: skip
    rows = await anyio.to_thread.run_sync(models.dispatcher.ledger.sums, since, by)
    items = [attrs.asdict(row) for row in rows]
    if by in ("project", "session"):
        items = await call.services.store.aread(lambda conn: _named(conn, by, items))
    found = await models.state() or {}
    parts = {name: found.get(name) for name in ("today", "budget")}
    made = await call.services.store.aread(lambda conn: fetch.value(conn, MADE, begin))
    return {"since": since, "by": by, "items": items, **parts, "memories": int(made)}


def _begin(days: int) -> int:
    """When the first of so many days began, today being the last."""
    now = now_ms()
    return max(now - now % DAY_MS - (days - 1) * DAY_MS, 0)


def _named(conn: apsw.Connection, by: str, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with the labels that people know; what is deleted has a number only."""
    if by == "project":
        return [{**i, "name": fetch.value(conn, LABELS, i["name"]) or ""} for i in items]
    made = []
    for item in items:
        row = fetch.row(conn, SESSIONS, item["name"])
        about = {"session": str(row[0]), "project": str(row[1])} if row else {}
        made.append({**item, **about})
    return made


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/providers",
        state,
        "How things stand with model services",
        answers={200: STATE},
        area="providers",
    ),
    Endpoint(
        "GET",
        "/api/providers/installed",
        names,
        "Installed model services",
        answers={200: record({"providers": {"type": "array"}}, "providers")},
        area="providers",
    ),
    Endpoint(
        "POST",
        "/api/providers/{name}/test",
        test,
        "Ask a model service for one word",
        params=(NAME,),
        body=OBJECT,
        body_optional=True,
        answers={200: TESTED},
        right=Right.FULL,
        area="providers",
        listed=False,
    ),
    Endpoint(
        "POST",
        "/api/providers/{name}/reset",
        reset,
        "Try a model service again",
        params=(NAME,),
        body=OBJECT,
        body_optional=True,
        right=Right.FULL,
        area="providers",
        answers={200: record({"success": {"type": "boolean"}}, "success")},
    ),
    Endpoint(
        "GET",
        "/api/usage",
        usage,
        "What model services cost",
        params=(
            integer("days", default=30, low=1, high=3_650, help="days, with today"),
            choice("by", "day", "session", "project", "provider", "model", default="day"),
        ),
        answers={200: record({"items": {"type": "array"}}, "items")},
        area="providers",
    ),
)
