"""The tools that read, each a question to one of the worker's own endpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import urlencode

import apsw
import attrs

from claude_mem_core.errors import InvalidInput
from claude_mem_core.mcp import bounds
from claude_mem_core.mcp.asker import Asker, Scope
from claude_mem_core.mcp.ids import strings, worded
from claude_mem_core.pipeline import given
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.recall import details, levels, listing
from claude_mem_core.recall.records import Key, Record, key_of, parse_key
from claude_mem_core.render import for_prompt
from claude_mem_core.store import given_log, personal, projects
from claude_mem_core.types import Host
from claude_mem_core.worker.check import parameters
from claude_mem_core.worker.routes import all_endpoints
from claude_mem_core.worker.spec import Endpoint

Arguments = Mapping[str, Any]

SEARCHED = (
    "query", "limit", "offset", "type", "obs_type", "concepts", "files", "dateStart",
    "dateEnd", "orderBy", "platformSource", "match",
)  # fmt: skip
AROUND = (
    "anchor", "query", "depth_before", "depth_after", "type", "obs_type", "dateStart",
    "dateEnd", "platformSource",
)  # fmt: skip
MOST_IDS = 100
NO_PROJECT = "there is no project here: give `project`, a label or id (`mem project list`)"


async def search(asker: Asker, arguments: Arguments) -> str:
    """An index of what fits the words, best first."""
    names = await _named(asker, arguments)
    wished = _only(arguments, SEARCHED) | {"format": "index", "personal": bool(names)}
    wished |= {"project": names[0]} if len(names) == 1 else {"projects": names or None}
    found = await ask(asker, "/api/search", wished)
    lines = [_text(found), "", f"Searched by: {', '.join(found['methods']) or 'nothing'}."]
    by = ", ".join(found["methods"])
    ranks = {key: f"found, number {at} by {by}" for at, key in enumerate(found["keys"], 1)}
    _log(asker, "search", ranks, str(wished.get("query") or ""))
    if found.get("hasMore"):
        shown = int(found.get("found") or 0) + int(wished.get("offset") or 0)
        lines.append(f"There are more: offset={shown}.")
    return _framed(asker, "\n".join(lines))


async def timeline(asker: Asker, arguments: Arguments) -> str:
    """What happened before and after a record, a time, or the best match of words."""
    scope = await _scope(asker, arguments)
    wished = _only(arguments, AROUND) | {"project": scope.project, "format": "index"}
    if not str(wished.get("anchor") or "").strip() and not wished.get("query"):
        raise InvalidInput("give an anchor (an id, S12, a time) or a query")
    return _framed(asker, _text(await ask(asker, "/api/timeline", wished)))


async def get_observations(asker: Asker, arguments: Arguments) -> str:
    """Records in full, or at the level of detail that was asked for."""
    keys, beyond = _keys(arguments)
    level = str(arguments.get("level") or "full")
    scope = await _scope(asker, arguments)
    found = await _read(asker, lambda conn: _details(conn, keys, scope))
    records = _ordered(found.records, arguments)
    shown, left = await _read(asker, lambda conn: _shown(conn, records, level, scope))
    lines = [shown] if shown else []
    left += beyond
    if left:
        lines.append(f"Left out, for the answer would be too long: ids {', '.join(left)}.")
    if found.missing:
        lines.append(details.missing_text(found.missing))
    if not found.records:
        raise InvalidInput(lines[-1])
    read = [key for key in map(key_of, records) if key not in left]
    _note(asker, read)
    _log(asker, "mcp", dict.fromkeys(read, "read by its id"))
    return _framed(asker, "\n\n".join(lines))


async def get_tool_uses(asker: Asker, arguments: Arguments) -> str:
    """Raw input and output of tool uses, every character kept, as JSON."""
    ids = strings(arguments.get("ids"), "ids")
    scope = await _scope(asker, arguments)
    wished = {"ids": ",".join(ids[:MOST_IDS]), "project": scope.project, "limit": MOST_IDS}
    found = await ask(asker, "/api/tool-uses", wished)
    rows, left = bounds.raw(found["toolUses"], asker.call.services.fence_id)
    left += [for_prompt(one, 80) for one in ids[MOST_IDS:]]
    lines = ["Each line is one tool use as JSON.", *rows] if rows else []
    if left:
        lines.append(f"Left out, for the answer would be too long: ids {', '.join(left)}.")
    if found["notFound"]:
        missing = ", ".join(for_prompt(one, 80) for one in found["notFound"])
        lines.append(
            f"Not found: {missing}. They may be mistyped, purged or of another project."
        )
    if not found["toolUses"]:
        raise InvalidInput(lines[-1] if lines else "nothing was found")
    return _framed(asker, "\n".join(lines), 2 * bounds.RAW_CHARS)


async def session_start_context(asker: Asker, arguments: Arguments) -> str:
    """The text that a session of this project begins with."""
    named = arguments.get("project") or arguments.get("projects")
    names = ",".join(strings(named, "project")) if named else ""
    scopes = [await _scope(asker, {"project": name}) for name in names.split(",") if name]
    wished: dict[str, Any] = {
        "platformSource": arguments.get("platformSource") or _host(asker),
        "full": bool(arguments.get("full")), "colors": bool(arguments.get("colors")),
    }  # fmt: skip
    if scopes:
        wished["projects"] = ",".join(scope.project or "" for scope in scopes)
    elif asker.place is None or asker.place.kind == "general":
        raise InvalidInput(NO_PROJECT)
    else:
        wished["cwd"] = asker.cwd
    reply = await ask(asker, "/api/context/inject", wished)
    text = bytes(reply.body).decode("utf-8")
    if not text.strip():
        raise InvalidInput("nothing is given here: the project is excluded, or is none")
    return text


def _host(asker: Asker) -> str | None:
    """The client's own host, whose rows it gets as its sessions do; None for all."""
    records = asker.call.services.registry.records("mem_hosts", Host)
    return asker.client if asker.client in {record.name for record in records} else None


# The pieces -------------------------------------------------------------------


@cache
def _endpoints() -> Mapping[str, Endpoint]:
    return {endpoint.path: endpoint for endpoint in all_endpoints() if endpoint.method == "GET"}


async def ask(asker: Asker, path: str, wished: Mapping[str, Any]) -> Any:
    """What GET `path` answers, with its own checks of the parameters.

    Raises:
        MemError: what the endpoint refuses.
    """
    endpoint = _endpoints()[path]
    query = urlencode([(k, worded(v)) for k, v in wished.items() if v is not None])
    params = parameters(endpoint, query.encode("ascii"), {})
    return await endpoint.handler(attrs.evolve(asker.call, params=params, body=None))


def _only(arguments: Arguments, names: Iterable[str]) -> dict[str, Any]:
    """The arguments that a tool knows; others are let pass, for models invent some."""
    return {n: arguments[n] for n in names if arguments.get(n) not in (None, "", [])}


def _text(found: Any) -> str:
    return str(found["content"][0]["text"])


def _framed(asker: Asker, text: str, most: int = bounds.ANSWER_CHARS) -> str:
    return bounds.framed(text, asker.call.services.fence_id, most)


async def _read(asker: Asker, work: Any) -> Any:
    return await asker.call.services.store.aread(work)


async def _scope(asker: Asker, arguments: Arguments) -> Scope:
    named = arguments.get("project")
    name = str(named) if isinstance(named, str | int) and not isinstance(named, bool) else None
    scope: Scope = await _read(asker, lambda conn: asker.scope(conn, name))
    return scope


async def _named(asker: Asker, arguments: Arguments) -> list[str]:
    """The projects that are asked for, each one that may be seen; none of them means all."""
    several = arguments.get("projects")
    names = strings(several, "projects") if several else []
    if not names or arguments.get("project"):
        names.append(arguments.get("project") or "")
    scopes = [await _scope(asker, {"project": name}) for name in names]
    found = [scope.project for scope in scopes if scope.project is not None]
    return list(dict.fromkeys(found)) if len(found) == len(scopes) else []


def _note(asker: Asker, keys: Sequence[str]) -> None:
    """Who read what, for `mem why`; nobody waits for it."""
    what, now = f"mcp:{asker.client}", now_ms()
    asker.call.services.store.write(lambda conn: given.note(conn, 0, what, keys, now))


def _log(asker: Asker, what: str, reasons: Mapping[str, str], query: str = "") -> None:
    """Why an agent was given what it was given; its words pass the same door as all others."""
    services, now = asker.call.services, now_ms()
    said = services.cleaners.current(asker.settings).text(query, "tool") if query else ""
    name = f"{what}:{asker.client}"
    services.store.write(lambda conn: given_log.note(conn, 0, name, reasons, now, said))


def _keys(arguments: Arguments) -> tuple[list[Key], list[str]]:
    """What is asked for, and what is too much at once."""
    values = [arguments.get(name) for name in ("ids", "keys")]
    wanted = [text for value in values if value for text in strings(value, "ids")]
    if not wanted:
        raise InvalidInput("ids is required: a list of ids, as search gives them")
    beyond = [for_prompt(text, 40) for text in wanted[MOST_IDS:]]
    return [parse_key(text) for text in wanted[:MOST_IDS]], beyond


def _details(conn: apsw.Connection, keys: Sequence[Key], scope: Scope) -> details.Details:
    return details.details(conn, keys, _inside(conn, scope), personal.ids(conn))


def _inside(conn: apsw.Connection, scope: Scope) -> list[int] | None:
    return None if scope.project is None else projects.find(conn, scope.project)


def _ordered(records: Sequence[Record], arguments: Arguments) -> list[Record]:
    order, limit = arguments.get("orderBy"), arguments.get("limit")
    found = list(records)
    if order in ("date_asc", "date_desc"):
        found.sort(key=lambda one: (one.created_ms, one.id), reverse=order == "date_desc")
    return found[:limit] if isinstance(limit, int) and limit > 0 else found


def _shown(
    conn: apsw.Connection, records: Sequence[Record], level: str, scope: Scope
) -> tuple[str, list[str]]:
    if level == "title":
        return "\n".join(listing.by_day(records)).lstrip("\n"), []
    inside = _inside(conn, scope)

    def sourced(record: Record, *, brief: bool) -> str:
        # What a personal memory was made from is its project's alone.
        if inside is not None and record.project_id not in inside:
            return details.in_full(record)
        return levels.with_sources(conn, record, brief=brief)

    ways: Mapping[str, Callable[[Record], str]] = {
        "summary": levels.in_brief,
        "full": lambda record: sourced(record, brief=True),
        "source": lambda record: sourced(record, brief=False),
    }
    written = ways.get(level)
    if written is None:
        raise InvalidInput("level must be one of title, summary, full, source")
    return bounds.fitted((key_of(record), written(record)) for record in records)
