"""What is stored: pages, single records, batches, deletion."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import apsw
import attrs

from claude_mem_core.store import memories, pages, projects
from claude_mem_core.types import DocKind, Observation
from claude_mem_core.worker.routes.rows import worded
from claude_mem_core.worker.spec import (
    INT64,
    OBJECT,
    Call,
    Endpoint,
    Refused,
    host_filter,
    host_name,
    limit,
    offset,
    platform,
    project,
    record,
    row_id,
    text,
)

MOST = 100
BATCH = 1000
_LIST = "[0-9]{1,18}( *, *[0-9]{1,18}){0,999}"
_IDS = re.compile(rf" *({_LIST}|\[ *({_LIST})? *\]) *")
CURSOR = "[0-9]{1,18}-[0-9]{1,18}"
KINDS = {
    "observations": DocKind.OBSERVATION,
    "summaries": DocKind.SUMMARY,
    "prompts": DocKind.PROMPT,
}


def project_ids(conn: apsw.Connection, name: str | None) -> list[int] | None:
    """What a project filter means: None for all of them, empty for an unknown one."""
    return None if not name else projects.find(conn, name)


def _cursor(given: str | None) -> tuple[int, int] | None:
    if given is None:
        return None
    created, _, number = given.partition("-")
    return int(created), int(number)


def _page(name: str) -> Callable[[Call], Awaitable[dict[str, Any]]]:
    """The handler of one kind's pages."""
    kind = KINDS[name]

    async def handler(call: Call) -> dict[str, Any]:
        """One page, newest first. `next` of the answer, given as `before`, goes on."""
        most = min(call.params["limit"], MOST)
        before, start = _cursor(call.params["before"]), call.params["offset"]

        def read(conn: apsw.Connection) -> dict[str, Any]:
            ids = project_ids(conn, call.params["project"])
            found = pages.page(
                conn, kind, ids, host_filter(call), most, before=before, offset=start
            )
            rows = worded(conn, found.records)
            last = found.records[-1] if found.records else None
            return {
                name: rows,
                "items": rows,
                "total": found.total,
                "hasMore": found.more,
                "offset": start,
                "limit": most,
                "next": f"{last.created_ms}-{last.id}" if last and found.more else None,
            }

        return await call.services.store.aread(read)

    return handler


def _single(kind: DocKind) -> Callable[[Call], Awaitable[dict[str, Any]]]:
    read = {
        DocKind.OBSERVATION: memories.observation,
        DocKind.SUMMARY: memories.summary,
        DocKind.PROMPT: memories.prompt,
    }[kind]

    async def handler(call: Call) -> dict[str, Any]:
        """One record by its id."""
        number = call.params["id"]
        return await call.services.store.aread(
            lambda conn: worded(conn, [read(conn, number)])[0]
        )

    return handler


def _delete(kind: DocKind) -> Callable[[Call], Awaitable[dict[str, Any]]]:
    async def handler(call: Call) -> dict[str, Any]:
        """Delete one record; search forgets it too."""
        number = call.params["id"]
        await call.services.store.awrite(lambda conn: memories.delete(conn, kind, number))
        call.services.indexer.wake()
        return {"success": True, "id": number, "kind": kind.value, "entity_rev": "1"}

    return handler


def wanted_ids(given: Any) -> list[int]:
    """Ids as clients send them: a list, a JSON text of one, or a text with commas.

    Raises:
        Refused: 400 with the documented words.
    """
    if isinstance(given, str) and _IDS.fullmatch(given):
        given = [int(number) for number in re.findall("[0-9]+", given)]
    if not isinstance(given, list) or len(given) > BATCH:
        raise Refused(400, "ids must be an array of numbers")
    if not all(_is_id(number) for number in given):
        raise Refused(400, "All ids must be integers")
    return [int(number) for number in given]


def _is_id(number: Any) -> bool:
    whole = type(number) is int or (isinstance(number, float) and number.is_integer())
    return bool(whole and 0 <= number <= INT64)


async def batch(call: Call) -> list[dict[str, Any]]:
    """Observations by their ids, newest first unless asked otherwise."""
    body = call.body
    ids = wanted_ids(body["ids"])
    most = min(body.get("limit") or BATCH, BATCH)
    host = host_name(body["platformSource"]) if body.get("platformSource") else None

    def read(conn: apsw.Connection) -> list[dict[str, Any]]:
        found = memories.observations(conn, dict.fromkeys(ids))
        among = project_ids(conn, body.get("project"))
        kept = [o for o in found if among is None or o.project_id in among]
        kept = [o for o in kept if not host or o.host == host]
        return worded(conn, _ordered(kept, body.get("orderBy"))[:most])

    return await call.services.store.aread(read)


def _ordered(found: Sequence[Observation], order: str | None) -> list[Observation]:
    newest_first = order != "date_asc"
    return sorted(found, key=lambda o: (o.created_ms, o.id), reverse=newest_first)


SESSION_COLUMNS = (
    "id", "content_session_id", "memory_session_id", "project", "platform_source",
    "user_prompt", "started_at", "started_at_epoch", "completed_at", "completed_at_epoch",
    "status", "prompt_counter", "custom_title",
)  # fmt: skip
SESSIONS = f"""
  SELECT {", ".join(SESSION_COLUMNS)} FROM sdk_sessions
  WHERE memory_session_id IN (SELECT value FROM json_each(?)) ORDER BY id
"""


async def sessions(call: Call) -> list[dict[str, Any]]:
    """Session rows by their memory session ids."""
    ids = json.dumps(call.body["memorySessionIds"])
    found = await call.services.store.aread(
        lambda conn: conn.execute(SESSIONS, (ids,)).fetchall()
    )
    return [dict(zip(SESSION_COLUMNS, row, strict=True)) for row in found]


TEXT_OR_NULL = {"type": ["string", "null"], "maxLength": 4096}
IDS = {
    "anyOf": [
        {"type": "array", "maxItems": BATCH,
         "items": {"type": "integer", "minimum": 0, "maximum": INT64}},
        {"type": "string", "pattern": f"^{_IDS.pattern}$"},
    ],
    "x-unchecked": True,  # the handler answers in the documented words
}  # fmt: skip


def _pages() -> list[Endpoint]:
    params = (project(), limit(), offset(), platform(), text("before", longest=40, pattern=f"^{CURSOR}$", help="`next` of the page before"))
    answer = record({"items": {"type": "array"}, "hasMore": {"type": "boolean"}}, "items")
    return [
        Endpoint("GET", f"/api/{name}", _page(name), f"Stored {name}", params=params,
                 answers={200: answer})
        for name in KINDS
    ]  # fmt: skip


def _records() -> list[Endpoint]:
    names = {
        "observation": DocKind.OBSERVATION, "session": DocKind.SUMMARY,
        "prompt": DocKind.PROMPT,
    }  # fmt: skip
    plain = Endpoint("GET", "", batch, "One record", (row_id(),), answers={200: OBJECT, 404: OBJECT})
    got = [
        attrs.evolve(plain, path=f"/api/{name}/{{id}}", handler=_single(kind))
        for name, kind in names.items()
    ]
    gone = attrs.evolve(plain, method="DELETE", summary="Delete one record")
    return got + [
        attrs.evolve(gone, path=f"/api/{kind.value}/{{id}}", handler=_delete(kind))
        for kind in DocKind
    ]


ENDPOINTS = (
    *_pages(),
    *_records(),
    Endpoint(
        "POST", "/api/observations/batch", batch, "Observations by their ids",
        body=record(
            {
                "ids": IDS,
                "orderBy": {"enum": ["date_desc", "date_asc", None]},
                "limit": {"type": ["integer", "null"], "minimum": 1, "maximum": INT64},
                "project": TEXT_OR_NULL,
                "platformSource": TEXT_OR_NULL,
            },
            "ids",
        ),
        answers={200: {"type": "array"}},
    ),
    Endpoint(
        "POST", "/api/sdk-sessions/batch", sessions, "Sessions by their ids",
        body=record(
            {"memorySessionIds": {"type": "array", "maxItems": 10_000,
                                  "items": {"type": "string", "maxLength": 1000}}},
            "memorySessionIds",
        ),
        answers={200: {"type": "array"}},
    ),
)
