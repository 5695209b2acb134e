"""Memories as one list: pages, days, filter values, one memory in full, sessions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import anyio.to_thread
import apsw

from claude_mem_core.errors import InvalidInput
from claude_mem_core.recall import dates
from claude_mem_core.recall.records import kind_of
from claude_mem_core.recall.search import search
from claude_mem_core.store import browse, cards, detail, pages, projects, stats, talks, trash
from claude_mem_core.store.browse import Key, Shown
from claude_mem_core.types import DocKind, Query
from claude_mem_core.worker.spec import (
    OBJECT,
    Call,
    Endpoint,
    Param,
    choice,
    host_filter,
    integer,
    limit,
    moment,
    platform,
    project,
    record,
    row_id,
    text,
    texts,
    words,
)

MOST = 200
MEMORY = "^[Ss]?[0-9]{1,18}$"
CURSOR = "^[0-9]{1,18}-[01]-[0-9]{1,18}$"
STATES = ("pinned", "wrong", "replaced", "deleted")
KINDS = (DocKind.OBSERVATION, DocKind.SUMMARY)


def memory_key(given: str) -> tuple[DocKind, int]:
    """`12` is an observation, `S4` a summary.

    Raises:
        InvalidInput: it is neither.
    """
    letter, number = given[:1].upper(), given.lstrip("Ss")
    if not number.isascii() or not number.isdigit():
        raise InvalidInput(f"{given[:40]!r} is no memory; use 12, or S4 for a summary")
    return (DocKind.SUMMARY if letter == "S" else DocKind.OBSERVATION), int(number)


def shown_of(conn: apsw.Connection, call: Call) -> Shown:
    """The memories that the parameters ask for."""
    names = call.params["project"]
    state = call.params.get("state") or ""
    return Shown(
        project_ids=_projects(conn, names) if names else None,
        types=call.params["type"],
        host=host_filter(call),
        since_ms=_ms(call.params["from"]),
        until_ms=_ms(call.params["to"], end=True),
        state="" if state == "deleted" else state,
    )


def _projects(conn: apsw.Connection, names: Sequence[str]) -> list[int]:
    """The ids of all of them, each once."""
    return list(dict.fromkeys(n for name in names for n in projects.find(conn, name)))


def _ms(given: str | None, *, end: bool = False) -> int | None:
    if not given:
        return None
    return dates.parse(given, end=end) + (1 if end and not given.isdigit() else 0)


async def memories(call: Call) -> dict[str, Any]:
    """A page: of the list, newest first, or with `q` of what a search finds, best first."""
    if (call.params["q"] or "").strip():
        return await anyio.to_thread.run_sync(_search, call)
    most = min(call.params["limit"], MOST)
    if call.params["state"] == "deleted":
        return await call.services.store.aread(lambda conn: _deleted(conn, most))
    before, start = _key(call.params["before"]), call.params["offset"]

    def read(conn: apsw.Connection) -> dict[str, Any]:
        keys, more = browse.page(conn, shown_of(conn, call), most, before, start)
        return listed(conn, keys, more=more)

    return await call.services.store.aread(read)


def listed(conn: apsw.Connection, keys: list[Key], *, more: bool) -> dict[str, Any]:
    """One page of cards; `next`, given as `before`, goes on."""
    found = cards.cards(conn, [(key.doc_kind, key.id) for key in keys])
    last = keys[-1] if keys else None
    following = f"{last.created_ms}-{last.kind}-{last.id}" if last and more else None
    return {"items": found, "next": following}


def _key(given: str | None) -> Key | None:
    return Key(*map(int, given.split("-"))) if given else None


def _deleted(conn: apsw.Connection, most: int) -> dict[str, Any]:
    items = []
    for one in trash.listed(conn, most):
        kind, row = DocKind(one["kind"]), one["row"]
        title = row.get("title") or row.get("completed") or row.get("request") or ""
        values = (
            row["id"], row.get("type", "summary"), title[: cards.TITLE_CHARS], row["project"],
            row["platform_source"], row["created_at_epoch"], row["superseded_by"],
            row["trust"], row["sync_rev"], row.get("agent_id"),
        )  # fmt: skip
        card = cards.card(kind, values)
        card["flags"] = ["deleted"]
        items.append({**card, "undo": one["undo"], "deleted_ms": one["deleted_ms"]})
    return {"items": items, "next": None}


def _search(call: Call) -> dict[str, Any]:
    begun = time.perf_counter()
    most, start = min(call.params["limit"], MOST), call.params["offset"]
    answer = search(call.services, _query(call, most, start))
    keys = [(kind_of(one), one.id) for one in answer.records]
    found = call.services.store.read(lambda conn: cards.cards(conn, keys))
    return {
        "items": [{**card, "partial": card["key"] in answer.partial} for card in found],
        "next": None,
        "more": answer.more,
        "methods": list(answer.methods),
        "failed": dict(answer.failed),
        "coverage": answer.coverage,
        "took_ms": round((time.perf_counter() - begun) * 1000, 1),
    }


def _query(call: Call, most: int, start: int) -> Query:
    types = call.params["type"]
    kinds = KINDS if not types else Shown(types=types).kinds()
    return Query(
        text=call.params["q"],
        projects=tuple(call.params["project"]),
        kinds=kinds,
        types=tuple(name for name in types if name != browse.SUMMARY),
        host=host_filter(call),
        since_ms=_ms(call.params["from"]),
        until_ms=_ms(call.params["to"], end=True),
        limit=most,
        offset=start,
    )


async def outline(call: Call) -> dict[str, Any]:
    """How many memories each day of this machine's calendar has, newest first."""

    def read(conn: apsw.Connection) -> dict[str, Any]:
        days = browse.by_day(conn, shown_of(conn, call))
        return {"days": days, "total": sum(day[2] for day in days)}

    return await call.services.store.aread(read)


async def facets(call: Call) -> dict[str, Any]:
    """How many memories each project, type and host has."""

    def read(conn: apsw.Connection) -> dict[str, Any]:
        by_project = stats.stats(conn)["byProject"]
        return {"projects": by_project, **browse.values_of(conn, shown_of(conn, call))}

    return await call.services.store.aread(read)


async def start(call: Call) -> dict[str, Any]:
    """What a page needs first, in one answer: days, the first page, counts, the version."""

    def read(conn: apsw.Connection) -> dict[str, Any]:
        everything = Shown()
        days = browse.by_day(conn, everything)
        keys, more = browse.page(conn, everything, 100)
        return {
            "version": call.worker.version,
            "days": days,
            "total": sum(day[2] for day in days),
            "page": listed(conn, keys, more=more),
            "prompts": pages.count(conn, DocKind.PROMPT, None),
        }

    return await call.services.store.aread(read)


async def memory(call: Call) -> dict[str, Any]:
    """One memory with its evidence, what it replaced, and where it was given."""
    kind, number = memory_key(call.params["key"])
    return await call.services.store.aread(lambda conn: detail.detail(conn, kind, number))


async def sessions(call: Call) -> dict[str, Any]:
    """Sessions, newest first. `next`, given as `before`, goes on."""
    most, given = min(call.params["limit"], MOST), call.params["before"]
    name = call.params["project"]

    def read(conn: apsw.Connection) -> dict[str, Any]:
        ids = projects.find(conn, name) if name else None
        before = tuple(map(int, given.split("-"))) if given else None
        found, more = talks.page(conn, ids, most, before)  # type: ignore[arg-type]
        last = found[-1] if found and more else None
        following = f"{last['started_ms']}-{last['id']}" if last else None
        return {"items": found, "next": following}

    return await call.services.store.aread(read)


async def session(call: Call) -> dict[str, Any]:
    """One session turn by turn, and what it was given."""
    number = call.params["id"]
    return await call.services.store.aread(lambda conn: talks.session(conn, number))


KEY = Param(
    "key", {"type": "string", "pattern": MEMORY, "maxLength": 20}, True, None,
    "12, or S4 for a summary", "path",
)  # fmt: skip
_FILTERS = (
    texts("project", help="label or id of a project"), words("type", help="types, and summary"), platform(), moment("from"), moment("to"),
)  # fmt: skip
ENDPOINTS = (
    Endpoint(
        "GET", "/api/memories", memories, "Memories as a list, or what a search finds",
        params=(
            text("q", default="", longest=20_000, help="words; no character is an operator"),
            *_FILTERS,
            choice("state", *STATES),
            text("before", longest=60, pattern=CURSOR, help="`next` of the page before"),
            limit(100, MOST),
            integer("offset", default=0, high=1_000_000, help="memories to pass over"),
        ),
        answers={200: record({"items": {"type": "array"}}, "items")}, area="viewer",
    ),
    Endpoint(
        "GET", "/api/memories/outline", outline, "How many memories each day has",
        params=(*_FILTERS, choice("state", *STATES)),
        answers={200: record({"days": {"type": "array"}}, "days")}, area="viewer",
    ),
    Endpoint(
        "GET", "/api/memories/facets", facets, "How many memories each filter value has",
        params=(*_FILTERS, choice("state", *STATES)), area="viewer",
    ),
    Endpoint(
        "GET", "/api/memories/{key}", memory, "One memory and all around it",
        params=(KEY,), answers={200: OBJECT, 404: OBJECT}, area="viewer",
    ),
    Endpoint("GET", "/api/viewer/start", start, "What a page needs first", area="viewer"),
    Endpoint(
        "GET", "/api/sessions", sessions, "Sessions, newest first",
        params=(
            project(), limit(50, MOST),
            text("before", longest=40, pattern="^[0-9]{1,18}-[0-9]{1,18}$"),
        ),
        answers={200: record({"items": {"type": "array"}}, "items")}, area="viewer",
    ),
    Endpoint(
        "GET", "/api/sessions/{id}", session, "One session turn by turn",
        params=(row_id(),), answers={200: OBJECT, 404: OBJECT}, area="viewer",
    ),
)  # fmt: skip
