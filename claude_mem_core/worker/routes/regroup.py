"""Projects in the user's order: rename, alias, merge, split, adopt, and taking it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apsw
import attrs

from claude_mem_core.errors import InvalidInput
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.projects.worktrees import worktrees
from claude_mem_core.store import fetch, folding, projects, regroup
from claude_mem_core.worker.routes.projects import (
    ASKED,
    NAME,
    ONE,
    admin_post,
    asked,
    here,
    numbered,
)
from claude_mem_core.worker.spec import (
    ERROR,
    INT64,
    OBJECT,
    Call,
    Endpoint,
    Refused,
    Right,
    limit,
    record,
)

REPOSITORY = """
  SELECT s.repository FROM projects p JOIN project_places s ON s.project_key = p.key
  WHERE p.id = ?
"""
NOTHING = "there is nothing to adopt: no project is a worktree of {label}"
CHANGED = record(
    {"number": {"type": "integer"}, "action": {"type": "string"},
     "project": {"type": "string"}, "what": {"type": "string"}},
    "number", "project",
)  # fmt: skip
ANSWERS = {200: CHANGED, 404: ERROR, 409: ERROR}


async def rename(call: Call) -> dict[str, Any]:
    """Another name for a project, or for one of its worktrees; the old one leads there too."""
    body = call.body
    return await _changed(
        call, lambda conn: regroup.rename(conn, body["project"], body["name"], now_ms())
    )


async def alias(call: Call) -> dict[str, Any]:
    """One more name for a project."""
    body = call.body
    return await _changed(
        call, lambda conn: regroup.alias(conn, body["project"], body["name"], now_ms())
    )


async def unalias(call: Call) -> dict[str, Any]:
    """One name less."""
    return await _changed(call, lambda conn: regroup.unalias(conn, call.body["name"], now_ms()))


async def merge(call: Call) -> dict[str, Any]:
    """Make projects one with another: all of them read what each remembers."""
    body = call.body

    def work(conn: apsw.Connection) -> regroup.Change:
        olds = [numbered(conn, name) for name in dict.fromkeys(body["projects"])]
        return regroup.merge(conn, olds, numbered(conn, body["into"]), now_ms())

    return await _changed(call, work)


async def split(call: Call) -> dict[str, Any]:
    """Take a project out of another, or apart what was merged into it."""
    return await _changed(
        call, lambda conn: regroup.split(conn, numbered(conn, call.body["project"]), now_ms())
    )


async def adopt(call: Call) -> dict[str, Any]:
    """Make a repository one with what was recorded in its worktrees apart from it."""
    body = call.body

    def look(conn: apsw.Connection) -> tuple[int, list[folding.Adoptable]]:
        number = asked(conn, call)
        trees = worktrees(_repository(conn, call, number))
        roots = {root for root, branch in trees.items() if body.get("branch") in (None, branch)}
        named = body.get("branch") is None
        return number, list(folding.adoptable(conn, number, roots, named=named))

    def work(conn: apsw.Connection) -> dict[str, Any]:
        number, found = look(conn)
        label = projects.labels(conn)[number]
        told = {"project": label, "adopted": [attrs.asdict(one) for one in found], "number": 0}
        if not found:
            raise InvalidInput(NOTHING.format(label=label))
        if not body.get("dry_run"):
            ids = [one.id for one in found]
            told["number"] = regroup.merge(conn, ids, number, now_ms(), "adopt").number
        return told

    told: dict[str, Any] = await _written(call, work)
    return told


def _repository(conn: apsw.Connection, call: Call, number: int) -> str:
    if call.body.get("project"):
        return str(fetch.value(conn, REPOSITORY, number) or "")
    return here(call).repository


async def undo(call: Call) -> dict[str, Any]:
    """Take back what was done to projects: the newest change, or the one of that number."""
    number = call.body.get("number") if call.body else None
    return await _changed(call, lambda conn: regroup.undo(conn, number, now_ms()))


async def changes(call: Call) -> dict[str, Any]:
    """What was done to projects, newest first."""
    most = call.params["limit"]
    found = await call.services.store.aread(lambda conn: regroup.changes(conn, min(most, 500)))
    return {"changes": found}


async def _changed(
    call: Call, work: Callable[[apsw.Connection], regroup.Change]
) -> dict[str, Any]:
    done: regroup.Change = await _written(call, work)
    return {"number": done.number, "action": done.action, "project": done.project,
            "what": done.said}  # fmt: skip


async def _written(call: Call, work: Callable[[apsw.Connection], Any]) -> Any:
    """What `work` gives; 409 where the projects are not as it needs them."""
    try:
        return await call.services.store.awrite(work)
    except InvalidInput as error:
        raise Refused(409, str(error)) from error


_NAMED = record({"project": NAME, "name": NAME}, "project", "name")
_ADOPTED = record({"project": {"type": "string"}, "adopted": {"type": "array"}}, "adopted")

ENDPOINTS = (
    admin_post("rename", rename, "Give a project another name", body=_NAMED, answers=ANSWERS),
    admin_post("alias", alias, "Let another name mean a project", body=_NAMED, answers=ANSWERS),
    admin_post(
        "unalias", unalias, "Take another name away", body=record({"name": NAME}, "name"),
        answers=ANSWERS,
    ),
    admin_post(
        "merge", merge, "Make projects one with another",
        body=record(
            {"projects": {"type": "array", "items": NAME, "minItems": 1, "maxItems": 100},
             "into": NAME}, "projects", "into",
        ),
        answers=ANSWERS,
    ),
    admin_post(
        "split", split, "Take merged projects apart", body=record({"project": NAME}, "project"),
        answers=ANSWERS,
    ),
    admin_post(
        "adopt", adopt, "Make a repository one with its worktrees' own projects",
        body={
            **record({**ASKED, "dry_run": {"type": ["boolean", "null"]},
                      "branch": {"type": ["string", "null"], "minLength": 1, "maxLength": 500}}),
            **ONE,
        },
        answers={200: _ADOPTED, 404: ERROR, 409: ERROR},
    ),
    admin_post(
        "undo", undo, "Take back what was done to projects",
        body=record({"number": {"type": ["integer", "null"], "minimum": 1, "maximum": INT64}}),
        body_optional=True, answers=ANSWERS,
    ),
    Endpoint(
        "GET", "/api/admin/projects/changes", changes, "What was done to projects",
        params=(limit(50),), right=Right.FULL, area="admin", answers={200: OBJECT},
    ),
)  # fmt: skip
