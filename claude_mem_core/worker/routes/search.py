"""Search, timeline, memories of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anyio.to_thread
import apsw

from claude_mem_core.errors import NotFound
from claude_mem_core.recall import dates, details, listing, timeline
from claude_mem_core.recall.records import Record, key_of, kind_of, parse_key
from claude_mem_core.recall.search import SearchAnswer, search
from claude_mem_core.types import DocKind, Query
from claude_mem_core.worker.routes.by_file import ENDPOINTS as BY_FILE
from claude_mem_core.worker.routes.by_file import content, project_ids
from claude_mem_core.worker.routes.rows import worded
from claude_mem_core.worker.spec import (
    ANY,
    DATE,
    ERROR,
    KEY,
    Call,
    Endpoint,
    Param,
    Refused,
    choice,
    flag,
    host_filter,
    integer,
    limit,
    moment,
    offset,
    platform,
    project,
    text,
    words,
)

MOST = 100
MOST_KEYS = 500
KINDS = {
    "observations": DocKind.OBSERVATION,
    "sessions": DocKind.SUMMARY,
    "prompts": DocKind.PROMPT,
}
ORDERS = ("relevance", "date_desc", "date_asc")


def query_of(params: Mapping[str, Any], host: str | None) -> Query:
    """The query that the parameters ask for.

    Raises:
        InvalidInput: a date that is none.
    """
    asked = params.get("type") or ""
    kinds = (KINDS[asked],) if asked in KINDS else tuple(DocKind)
    types = () if asked in KINDS else _split(asked)
    since, until = params.get("dateStart"), params.get("dateEnd")
    return Query(
        text=params.get("query") or "",
        project=params.get("project") or None,
        projects=tuple(params.get("projects", ())),
        kinds=kinds,
        types=(*types, *params.get("obs_type", ())),
        concepts=tuple(params.get("concepts", ())),
        files=tuple(params.get("files", ())),
        host=host,
        since_ms=dates.parse(since) if since else None,
        until_ms=dates.parse(until, end=True) if until else None,
        order=params.get("orderBy") or "relevance",
        limit=min(params["limit"], MOST),
        offset=params.get("offset", 0),
        match_all=params.get("match") == "all",
        personal=params.get("personal", False),
    )


def _split(given: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in given.split(",") if part.strip())


async def find(call: Call) -> object:
    """Search everything; what matches in part comes last and is marked."""
    return await _answer(call, query_of(call.params, host_filter(call)))


async def find_observations(call: Call) -> object:
    """Search observations only."""
    query = query_of({**call.params, "type": "observations"}, host_filter(call))
    return await _answer(call, query)


async def _answer(call: Call, query: Query) -> object:
    services, style = call.services, call.params["format"]

    def work() -> dict[str, Any]:
        answer = search(services, query)
        about = _about(answer)
        if style == "json":
            return {**_by_kind(services.store.read, answer.records), **about}
        lines = _lines(query, answer, full=style == "full")
        keys = [key_of(record) for record in answer.records]
        return content(*lines, found=len(answer.records), keys=keys, **about)

    return await anyio.to_thread.run_sync(work)


def _about(answer: SearchAnswer) -> dict[str, Any]:
    return {
        "methods": list(answer.methods),
        "failed": dict(answer.failed),
        "coverage": answer.coverage,
        "covered": dict(answer.covered),
        "partial": sorted(answer.partial),
        "hasMore": answer.more,
    }


def _by_kind(read: Any, records: Sequence[Record]) -> dict[str, Any]:
    rows = read(lambda conn: worded(conn, records))
    pairs = list(zip(records, rows, strict=True))
    return {
        name: [row for one, row in pairs if kind_of(one) is kind]
        for name, kind in KINDS.items()
    }


def _lines(query: Query, answer: SearchAnswer, *, full: bool) -> list[str]:
    if not answer.records:
        return [listing.nothing_found(query.text), *_doubts(answer)]
    lines = [listing.found_line(query.text, answer.records)]
    if full:
        for one in answer.records:
            lines += ["", details.in_full(one)]
    else:
        lines += listing.by_day(answer.records, dict.fromkeys(answer.partial, "partial match"))
    return [*lines, *_doubts(answer)]


def _doubts(answer: SearchAnswer) -> list[str]:
    """What may be missing from the answer."""
    doubts = [
        f"{name} search failed ({why}) and is left out" for name, why in answer.failed.items()
    ]
    doubts += [
        f"the {name} index covers {share:.0%} so far; memories may be missing"
        for name, share in answer.covered.items()
        if share < 1
    ]
    return ["", *(f"Note: {doubt}." for doubt in doubts)] if doubts else []


async def in_full(call: Call) -> object:
    """Records of any kind in full, by their keys; missing ones are named."""
    keys = [parse_key(key) for key in call.params["ids"][:MOST_KEYS]]
    if not keys:
        raise Refused(400, "ids must be like 12, S3, P4, separated by commas")
    as_json, name = call.params["format"] == "json", call.params["project"]

    def read(conn: apsw.Connection) -> object:
        found = details.details(conn, keys, project_ids(conn, name))
        missing = list(found.missing)
        if as_json:
            rows = worded(conn, found.records)
            return {"records": [_item(*pair) for pair in zip(found.records, rows, strict=True)],
                    "missing": missing}  # fmt: skip
        texts = [details.in_full(one) for one in found.records]
        return content("\n\n".join(texts), missing=missing)

    return await call.services.store.aread(read)


async def around(call: Call) -> object:
    """What happened around a record, a time, or the best match of a query."""
    given = call.params["anchor"] or ""
    if not given.strip():
        if not (call.params["query"] or "").strip():
            raise NotFound("nothing to look around: give an anchor (id, S12, a time) or a query")
        return await around_query(call)
    return await _around(call, given)


async def around_query(call: Call) -> object:
    """The timeline around the best match of a query."""
    query = query_of({**call.params, "limit": 1}, host_filter(call))
    answer = await anyio.to_thread.run_sync(search, call.services, query)
    if not answer.records:
        nothing = content(listing.nothing_found(query.text), found=False)
        return nothing if _as_index(call) else []
    return await _around(call, key_of(answer.records[0]))


def _as_index(call: Call) -> bool:
    return bool(call.params["format"] == "index")


async def _around(call: Call, given: str) -> object:
    before, after = call.params["depth_before"], call.params["depth_after"]
    host, name = host_filter(call), call.params["project"]

    def read(conn: apsw.Connection) -> object:
        ids = project_ids(conn, name)
        anchor = timeline.anchor_of(conn, given, ids)
        found = timeline.timeline(conn, anchor, before, after, ids, host)
        if _as_index(call):
            return content(timeline.as_text(found), found=True)
        rows = worded(conn, found.records)
        return [_item(one, row) for one, row in zip(found.records, rows, strict=True)]

    try:
        return await call.services.store.aread(read)
    except NotFound as error:
        if _as_index(call):
            return content(str(error), found=False)
        raise


def _item(one: Record, row: dict[str, Any]) -> dict[str, Any]:
    """A row with the kind of record in `type`, as documented; the other type beside it."""
    kind = {"summary": "session"}.get(kind_of(one).value, kind_of(one).value)
    extra = {"obs_type": row["type"]} if kind == "observation" else {}
    return {**row, **extra, "type": kind}


def _depth(name: str) -> Any:
    return integer(name, default=timeline.DEPTH, help=f"records; at most {timeline.MOST_DEPTH}")


KEYS = f" *{KEY}( *, *{KEY}){{0,{MOST_KEYS - 1}}} *"
_IDS = {"type": "string", "pattern": f"^{KEYS}$", "maxLength": 12_000, "x-csv": True}
_ANCHOR = {"type": "string", "pattern": f"^( *{KEY} *|{DATE}|[0-9]{{9,15}})$", "x-unchecked": True}
_QUERY = text("query", default="", longest=20_000, help="words; no character is an operator")
_FILTERS = (
    text("type", longest=1000, help="observations, sessions, prompts, or a type"),
    words("obs_type", help="types of observations"),
    project(), words("concepts"), words("files"),
    moment("dateStart"), moment("dateEnd"),
    choice("orderBy", *ORDERS), platform(),
)  # fmt: skip
_SEARCH = (
    _QUERY, *_FILTERS, choice("format", "index", "full", "json", default="json"),
    limit(), offset(), words("projects", help="several: what lies in any of them"),
    choice("match", "all", "any", default="any", help="all: no partial matches"),
    flag("personal", help="with `project`: also what belongs to the person"),
)  # fmt: skip
_TIMELINE = (
    _QUERY, *_FILTERS, _depth("depth_before"), _depth("depth_after"),
    choice("format", "json", "index", default="json"),
)  # fmt: skip

ENDPOINTS = (
    Endpoint("GET", "/api/search", find, "Search", params=_SEARCH, area="search"),
    Endpoint(
        "GET",
        "/api/search/observations",
        find_observations,
        "Search observations",
        params=_SEARCH,
        area="search",
    ),
    *BY_FILE,
    Endpoint(
        "GET",
        "/api/details",
        in_full,
        "Records of any kind in full",
        params=(
            Param("ids", _IDS, True, (), "12, S3, P4"),
            project(),
            choice("format", "full", "json", default="full"),
        ),
        area="search",
    ),
    Endpoint(
        "GET",
        "/api/timeline",
        around,
        "What happened around a moment",
        params=(
            Param("anchor", _ANCHOR, False, None, "id, S12, P4 or a time"), *_TIMELINE,
        ),
        answers={200: ANY, 404: ERROR},
        area="search",
    ),
    Endpoint(
        "GET",
        "/api/timeline/by-query",
        around_query,
        "What happened around a match",
        params=(*_TIMELINE, limit(5), text("mode", longest=40)),
        answers={200: ANY, 404: ERROR},
        area="search",
    ),
)
