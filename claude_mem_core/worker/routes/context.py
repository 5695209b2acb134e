"""What a session is given at its start, to look at and for hosts that fetch it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import apsw

from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.recall import context_rows, semantic
from claude_mem_core.recall.context import ContextRequest, ContextText, session_context
from claude_mem_core.recall.context_lines import explained
from claude_mem_core.recall.paint import painted
from claude_mem_core.recall.records import load, parse_key
from claude_mem_core.store import fetch, given_log, projects
from claude_mem_core.types import DocKind, Host
from claude_mem_core.worker.chosen import Shut, chosen, labels, settle
from claude_mem_core.worker.routes.rows import worded
from claude_mem_core.worker.spec import (
    ANY,
    INT64,
    Call,
    Endpoint,
    choice,
    flag,
    host_filter,
    host_name,
    limit,
    one_of,
    platform,
    record,
    text,
    words,
)

if TYPE_CHECKING:
    from starlette.responses import Response

MOST = 100
_FULL = {
    "CLAUDE_MEM_CONTEXT_TOKEN_BUDGET": 100_000,
    "CLAUDE_MEM_CONTEXT_OBSERVATIONS": 200,
    "CLAUDE_MEM_CONTEXT_FULL_COUNT": 20,
}


def _plain(text: str) -> Response:
    from starlette.responses import PlainTextResponse

    return PlainTextResponse(text)


def _char_limit(call: Call, host: str) -> int:
    records = call.services.registry.records("mem_hosts", Host)
    return next((found.context_chars for found in records if found.name == host), 0)


def build(
    conn: apsw.Connection, call: Call, names: Sequence[str], host: str,
    draft: Mapping[str, Any] | None = None,
) -> ContextText:  # fmt: skip
    """The context that a session of these projects would be given now.

    `draft`: settings that are not saved, by key.
    """
    try:
        label, ids = chosen(conn, call, names)
    except Shut as shut:
        return ContextText(omitted={str(shut): 1})
    settings: Mapping[str, Any] = call.services.settings.current()
    if draft:
        settings = {**settings, **draft}
    if call.params.get("full"):
        settings = {**settings, **_FULL}
    request = ContextRequest(
        project_ids=tuple(ids), label=label, host=host, now_ms=now_ms(),
        char_limit=0 if call.params.get("full") else _char_limit(call, host),
        fence_id=call.services.fence_id, blocks=call.services.answers.blocks(label),
        notices=call.services.answers.notices.standing(),
    )  # fmt: skip
    return session_context(conn, request, settings)


async def inject(call: Call) -> object:
    """The context as plain text."""
    names, host = labels(call), host_filter(call) or ""
    await settle(call, names)
    store, now = call.services.store, now_ms()
    made = await store.aread(lambda conn: build(conn, call, names, host))
    store.write(lambda conn: given_log.note(conn, 0, f"api:{host}", made.reasons, now))
    return _plain(painted(made.text) if call.params["colors"] else made.text)


async def preview(call: Call) -> object:
    """The context as plain text with colours, or as JSON with a reason for each line."""
    names, source = labels(call), call.params["source"]
    host = host_name(source) if source and source != "all" else ""
    as_json = call.params["format"] == "json"
    await settle(call, names)

    def read(conn: apsw.Connection) -> object:
        made = build(conn, call, names, host)
        if as_json:
            return _explained(conn, made)
        return painted(made.text) if call.params["colors"] else made.text

    found = await call.services.store.aread(read)
    return found if as_json else _plain(str(found))


def _explained(conn: apsw.Connection, made: ContextText) -> dict[str, Any]:
    """A context with the reason for each of its lines."""
    ids = (*made.personal, *made.ids)
    rows = worded(conn, load(conn, map(parse_key, ids)))
    why_each = [
        {
            "id": key,
            "type": row.get("type", "session"),
            "title": row.get("title") or row.get("request"),
            "reason": made.reasons.get(key, ""),
        }
        for key, row in zip(ids, rows, strict=False)
    ]
    size = len(made.text.encode())
    return {
        "text": made.text,
        "ids": list(ids),
        "reasons": why_each,
        "lines": [{"text": text, "reason": why} for text, why in explained(made)],
        "omitted": dict(made.omitted),
        "bytes": size,
        "tokens": (size + 3) // 4,
    }


async def recent(call: Call) -> dict[str, Any]:
    """The newest summaries and observations of a project."""
    name, most = call.params["project"], min(call.params["limit"], MOST)
    host = host_filter(call)

    def read(conn: apsw.Connection) -> dict[str, Any]:
        ids = tuple(projects.find(conn, name)) if name else _all(conn)
        what = context_rows.Wanted(
            project_ids=ids, hosts=(host,) if host else (), main_agent_only=False
        )
        sessions = context_rows.summaries(conn, what, most)
        rows, _ = context_rows.observations(conn, what, most)
        return {
            "summaries": worded(conn, load(conn, [(DocKind.SUMMARY, s.id) for s in sessions])),
            "observations": worded(
                conn, load(conn, [(DocKind.OBSERVATION, r.id) for r in rows])
            ),
        }

    return await call.services.store.aread(read)


def _all(conn: apsw.Connection) -> tuple[int, ...]:
    return tuple(row[0] for row in fetch.rows(conn, "SELECT id FROM projects ORDER BY id"))


async def for_prompt(call: Call) -> dict[str, Any]:
    """Memories that fit a prompt; empty when there is nothing or something is wrong."""
    body, services = call.body, call.services
    most = min(body.get("limit") or semantic.DEFAULT, semantic.MOST)
    asked = (body.get("q") or "", body.get("project") or None)
    host = host_name(body["platformSource"]) if body.get("platformSource") else None
    settings = services.settings.current()
    names = [asked[1]] if asked[1] else []

    def work() -> dict[str, Any]:
        try:
            services.store.read(lambda conn: chosen(conn, call, names) if names else None)
        except Shut:
            return {"context": "", "count": 0}
        made = semantic.for_prompt(
            services, asked[0], asked[1], host, most, settings, services.fence_id
        )
        return {"context": made.text, "count": made.count}

    return await anyio.to_thread.run_sync(work)


_PROJECT = text("project", longest=4096, help="label or id of a project")
_COLORS = flag("colors", help="with terminal colours")

ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/context/inject",
        inject,
        "The context of a new session",
        params=(
            *one_of(
                _PROJECT,
                words("projects", help="several; the main one last"),
                text("cwd", longest=4096, help="directory instead of a project"),
            ),
            _COLORS,
            flag("full", help="no budget"),
            platform(),
        ),
        answers={200: ANY},
        media="text/plain",
        area="context",
    ),
    Endpoint(
        "GET",
        "/api/context/preview",
        preview,
        "The same, to look at",
        params=(
            *one_of(
                _PROJECT, text("cwd", longest=4096, help="directory instead of a project")
            ),
            text("source", longest=200, help="name of a host, or all"),
            flag("colors", default=True),
            choice("format", "text", "json", default="text"),
        ),
        answers={200: ANY},
        media="text/plain",
        area="context",
    ),
    Endpoint(
        "GET",
        "/api/context/recent",
        recent,
        "Newest summaries and observations",
        params=(_PROJECT, limit(3), platform()),
        area="context",
    ),
    Endpoint(
        "POST",
        "/api/context/semantic",
        for_prompt,
        "Memories that fit a prompt",
        body=record(
            {
                "q": {"type": ["string", "null"], "maxLength": 1_000_000},
                "project": {"type": ["string", "null"], "maxLength": 4096},
                "limit": {"type": ["integer", "null"], "minimum": 1, "maximum": INT64},
                "platformSource": {"type": ["string", "null"], "maxLength": 200},
            }
        ),
        answers={200: record({"context": {"type": "string"}, "count": {"type": "integer"}})},
        area="context",
    ),
)
