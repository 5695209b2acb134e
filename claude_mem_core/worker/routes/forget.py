"""Forgetting for good, with a look first and a proof afterwards."""

from __future__ import annotations

from typing import Any

import apsw

from claude_mem_core.errors import InvalidInput, NotFound
from claude_mem_core.forgetting import forget as forgetting
from claude_mem_core.forgetting.forget import Forgotten
from claude_mem_core.recall import dates
from claude_mem_core.recall.every import every
from claude_mem_core.store import cards, projects
from claude_mem_core.store.erase import Chosen
from claude_mem_core.types import DocKind, Query
from claude_mem_core.worker.spec import DATE, ERROR, Call, Endpoint, record, string

SHOWN = 50


async def forget(call: Call) -> dict[str, Any]:
    """Forget what is chosen, for good; `dry_run` (the default) only says what that is.

    What is given has to hold at once. `prove` then looks for it in every file.
    """
    body = call.body
    text = body.get("text", "").strip()
    if body.get("query"):
        await call.services.indexer.catch_up()
    chosen = await call.services.store.aread(lambda conn: chosen_by(conn, body))
    if body.get("dry_run", True):
        found = await forgetting.preview(call.services, chosen, text)
        shown = await call.services.store.aread(lambda conn: _shown(conn, found))
        return {"dry_run": True, **_worded(found), "memories": shown}
    prove = bool(body.get("prove"))
    found = await forgetting.forget(call.services, chosen, text, prove=prove)
    return {"dry_run": False, **_worded(found), "memories": list(found.rows.memories[:SHOWN])}


def chosen_by(conn: apsw.Connection, body: dict[str, Any]) -> Chosen:
    """What a request chooses.

    Raises:
        NotFound: there is no such project.
        InvalidInput: no date, or too short a text.
    """
    text, query, name = (body.get(n, "") for n in ("text", "query", "project"))
    numbers = projects.find(conn, name) if name else None
    if name and not numbers:
        raise NotFound(projects.unknown_text(conn, name))
    asked = Query(text=query, project=name or None)
    return Chosen(
        texts=forgetting.chosen_text(text) if text else (),
        ids=every(conn, asked) if query else None,
        projects=numbers,
        before_ms=_before(body),
    )


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


MORE = {
    "project": string(longest=4096, shortest=1),
    "before": {"type": "string", "pattern": f"^({DATE}|[0-9]{{9,15}})$", "x-unchecked": True},
    "dry_run": {"type": "boolean"},
    "prove": {"type": "boolean"},
}
TEXT = {**string(longest=10_000), "pattern": r"^\S[\s\S]{2,}\S$"}
QUERY = {**string(longest=1_000), "pattern": r"\S"}
# A text is exact, a query is a search: one of them, or neither.
BODY = {
    "anyOf": [
        record({"text": TEXT, **MORE}, "text", strict=True),
        record({"query": QUERY, **MORE}, "query", strict=True),
        record(MORE, "project", strict=True),
        record(MORE, "before", strict=True),
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
        "POST", "/api/forget", forget, "Forget for good: by text, search, project or age",
        body=BODY, answers={200: ANSWER, 404: ERROR}, area="memory",
    ),
)  # fmt: skip
