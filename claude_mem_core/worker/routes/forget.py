"""Forgetting for good, with a look first and a proof afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from claude_mem_core.errors import InvalidInput, NotFound
from claude_mem_core.forgetting import forget as forgetting
from claude_mem_core.forgetting.forget import Forgotten
from claude_mem_core.recall import dates
from claude_mem_core.recall.every import every
from claude_mem_core.store import cards, projects
from claude_mem_core.store.correct import Changed
from claude_mem_core.store.erase import Chosen
from claude_mem_core.types import DocKind, Query
from claude_mem_core.worker.routes.browse import memory_key
from claude_mem_core.worker.routes.correct import COUNT, FILTER, KEYS, all_of
from claude_mem_core.worker.spec import DATE, ERROR, Call, Endpoint, Reply, record, string

SHOWN = 50


async def forget(call: Call) -> object:
    """Forget what is chosen, for good; `dry_run` (the default) only says what that is.

    What is given has to hold at once. `prove` then looks for it in every file. Memories are
    named by `keys`, or by the `filter` of a list with the `count` that was seen: when it
    holds another number by now, that is a 409, and nothing is forgotten.
    """
    try:
        return await _forget(call)
    except Changed as error:
        return Reply({"error": str(error)}, 409)


async def _forget(call: Call) -> dict[str, Any]:
    body = call.body
    text = body.get("text", "").strip()
    if body.get("query"):
        await call.services.indexer.catch_up()
    chosen = await call.services.store.aread(lambda conn: chosen_by(conn, call))
    if body.get("dry_run", True):
        found = await forgetting.preview(call.services, chosen, text)
        shown = await call.services.store.aread(lambda conn: _shown(conn, found))
        return {"dry_run": True, **_worded(found), "memories": shown}
    prove = bool(body.get("prove"))
    found = await forgetting.forget(call.services, chosen, text, prove=prove)
    return {"dry_run": False, **_worded(found), "memories": list(found.rows.memories[:SHOWN])}


def chosen_by(conn: apsw.Connection, call: Call) -> Chosen:
    """What a request chooses.

    Raises:
        NotFound: there is no such project.
        InvalidInput: no date, too short a text, or too long a list.
        Changed: another number is listed by now than was seen.
    """
    body = call.body
    text, name = (body.get(n, "") for n in ("text", "project"))
    numbers = projects.find(conn, name) if name else None
    if name and not numbers:
        raise NotFound(projects.unknown_text(conn, name))
    return Chosen(
        texts=forgetting.chosen_text(text) if text else (),
        ids=_ids(conn, call),
        projects=numbers,
        before_ms=_before(body),
    )


def _ids(conn: apsw.Connection, call: Call) -> Mapping[DocKind, Sequence[int]] | None:
    """The records that are named, listed or found; None when nothing of that is asked."""
    body = call.body
    if body.get("query"):
        return every(conn, Query(text=body["query"], project=body.get("project") or None))
    if "keys" in body:
        return _by_kind([memory_key(name) for name in body["keys"]])
    return _by_kind(all_of(conn, call, body["filter"])) if "filter" in body else None


def _by_kind(keys: Sequence[cards.Key]) -> Mapping[DocKind, Sequence[int]]:
    return {kind: [n for k, n in keys if k is kind] for kind in {kind for kind, _ in keys}}


def _before(body: dict[str, Any]) -> int | None:
    given = body.get("before")
    if "before" in body and not isinstance(given, str):
        raise InvalidInput("before must be a date: YYYY-MM-DD")
    return None if given is None else dates.parse(given)


def _worded(found: Forgotten) -> dict[str, Any]:
    return {
        "count": len(found.rows.memories),
        "rows": dict(found.rows.rows),
        "files": [{"path": one.path, "what": one.what} for one in found.files],
        "before": found.before, "after": found.after,
        "looked": found.looked, "proven": found.proven, "left": list(found.left),
    }  # fmt: skip


def _shown(conn: apsw.Connection, found: Forgotten) -> list[dict[str, Any]]:
    """The first of the memories, so that a person sees what he chose."""
    keys = [_key(name) for name in found.rows.memories if not name.startswith("P")]
    return cards.cards(conn, keys[:SHOWN])


def _key(name: str) -> tuple[DocKind, int]:
    if name.startswith("S"):
        return DocKind.SUMMARY, int(name[1:])
    return DocKind.OBSERVATION, int(name)


DO = {"dry_run": {"type": "boolean"}, "prove": {"type": "boolean"}}
MORE = {
    "project": string(longest=4096, shortest=1),
    "before": {"type": "string", "pattern": f"^({DATE}|[0-9]{{9,15}})$", "x-unchecked": True},
    **DO,
}
TEXT = {**string(longest=10_000), "pattern": r"^\S[\s\S]{2,}\S$"}
QUERY = {**string(longest=1_000), "pattern": r"\S"}
# A text is exact, a query is a search, keys and a filter name memories: one of them, or none.
BODY = {
    "anyOf": [
        record({"text": TEXT, **MORE}, "text", strict=True),
        record({"query": QUERY, **MORE}, "query", strict=True),
        record(MORE, "project", strict=True),
        record(MORE, "before", strict=True),
        record({"keys": KEYS, **DO}, "keys", strict=True),
        record({"filter": FILTER, "count": COUNT, **DO}, "filter", "count", strict=True),
    ]
}
ANSWER = record(
    {
        "dry_run": {"type": "boolean"}, "count": {"type": "integer"},
        "rows": {"type": "object"}, "files": {"type": "array"},
        "memories": {"type": "array"}, "left": {"type": "array"},
        "proven": {"type": ["boolean", "null"]},
    },
    "dry_run", "count", "rows", "files", "left", "proven",
)  # fmt: skip

ENDPOINTS = (
    Endpoint(
        "POST", "/api/forget", forget, "Forget for good: memories, or by text, search, project, age",
        body=BODY, answers={200: ANSWER, 404: ERROR, 409: ERROR}, area="memory",
    ),
)  # fmt: skip
