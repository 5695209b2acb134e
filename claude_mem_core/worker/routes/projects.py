"""Projects as places: where they are, what is linked, and linking."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import apsw
import attrs

from claude_mem_core.errors import InvalidInput, NotFound
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.projects import Place
from claude_mem_core.store import fetch, links, projects, regroup
from claude_mem_core.worker.spec import (
    ERROR,
    OBJECT,
    Call,
    Endpoint,
    Refused,
    Right,
    record,
    text,
)

PROJECTS = """
  SELECT p.id, p.label, p.kind, p.remote, q.label, s.repository,
    coalesce((SELECT n FROM totals WHERE kind = 'observation' AND project_id = p.id), 0)
  FROM projects p LEFT JOIN projects q ON q.id = p.merged_into
  LEFT JOIN project_places s ON s.project_key = p.key
  ORDER BY p.label
"""
SESSION = """
  SELECT coalesce(nullif(root, ''), cwd) FROM sdk_sessions
  WHERE project_id = ? ORDER BY started_at_epoch DESC LIMIT 1
"""
ALIASES = """
  SELECT label FROM project_labels WHERE project_id = ?1 AND place = ''
  UNION SELECT said FROM project_names WHERE project_id = ?1 ORDER BY 1
"""
FIELDS = ("id", "label", "kind", "remote", "linked_to")
NAME = {"type": "string", "minLength": 1, "maxLength": 4096, "pattern": r"\S"}
LINKED = record({"project": {"type": "string"}, "with": {"type": "string"}}, "project", "with")


async def places(call: Call) -> dict[str, Any]:
    """Every project with its place, its remote and its link, and clones to be linked."""
    return await call.services.store.aread(_listed)


def _listed(conn: apsw.Connection) -> dict[str, Any]:
    rows = [_described(conn, row) for row in fetch.rows(conn, PROJECTS)]
    return {"projects": rows, "clones": [worded(clone) for clone in links.clones(conn)]}


def worded(clone: links.Clone) -> dict[str, Any]:
    """A clone with the line that offers to link it."""
    return {**attrs.asdict(clone), "offer": clone.offer}


def _described(conn: apsw.Connection, row: fetch.Row) -> dict[str, Any]:
    *fields, repository, observations = row
    found = dict(zip(FIELDS, fields, strict=True))
    place = place_of_project(conn, found["id"], repository)
    lost = bool(place) and os.path.isabs(place) and not os.path.lexists(repository or place)
    names = [row[0] for row in fetch.rows(conn, ALIASES, found["id"])]
    return {
        **found, "place": place, "gone": lost, "observations": observations, "aliases": names,
    }  # fmt: skip


def place_of_project(conn: apsw.Connection, number: int, repository: str | None) -> str:
    """The directory of a project; empty when it is not known."""
    if repository and repository.endswith("/.git"):
        return repository.removesuffix("/.git")
    return str(fetch.value(conn, SESSION, number) or "")


async def known(call: Call) -> dict[str, int]:
    """The id of the project of this name; 404 names those near it."""
    name = call.params["name"]
    return {"id": await call.services.store.aread(lambda conn: numbered(conn, name))}


async def link(call: Call) -> dict[str, str]:
    """Make a project one with another: both read what either remembers."""
    body = call.body

    def work(conn: apsw.Connection) -> dict[str, str]:
        number, other = asked(conn, call), numbered(conn, body["other"])
        done = regroup.merge(conn, [number], other, now_ms(), "link")
        return {"project": projects.labels(conn)[number], "with": done.project}

    await _settle(call)
    return await _written(call, work)


async def unlink(call: Call) -> dict[str, str]:
    """Take a link back."""

    def work(conn: apsw.Connection) -> dict[str, str]:
        number = asked(conn, call, linked=True)
        other = links.linked_to(conn, number)
        done = regroup.split(conn, number, now_ms(), "unlink")
        return {"project": done.project, "with": other}

    return await _written(call, work)


async def _written(
    call: Call, work: Callable[[apsw.Connection], dict[str, str]]
) -> dict[str, str]:
    """What `work` gives; 409 where the projects are not as it needs them."""
    try:
        return await call.services.store.awrite(work)
    except InvalidInput as error:
        raise Refused(409, str(error)) from error


async def told(call: Call) -> dict[str, int]:
    """The clones that the status names are told now; it names each once."""

    def work(conn: apsw.Connection) -> int:
        fresh = links.untold(conn, "status", links.clones(conn))
        links.tell(conn, "status", fresh)
        return len(fresh)

    return {"told": await call.services.store.awrite(work)}


async def _settle(call: Call) -> None:
    if call.body.get("cwd") and not call.body.get("project"):
        await call.services.recorder.moves.settle(here(call))


def here(call: Call) -> Place:
    place = call.services.recorder.place(call.body["cwd"], call.services.settings.current())
    if place.kind == "general":
        raise NotFound(f"{call.body['cwd']} belongs to no project; go to its folder")
    return place


def asked(conn: apsw.Connection, call: Call, *, linked: bool = False) -> int:
    """The project that is named, or that of the directory."""
    if call.body.get("project"):
        return numbered(conn, call.body["project"])
    place = here(call)
    if not linked:
        projects.resolve(conn, place, now_ms())
    found = fetch.value(conn, "SELECT id FROM projects WHERE key = ?", place.key)
    if found is None:
        raise NotFound(f"nothing was recorded in {call.body['cwd']} yet")
    return int(found)


def numbered(conn: apsw.Connection, name: str) -> int:
    number = projects.number_of(conn, name.strip())
    if number is None:
        raise NotFound(projects.unknown_text(conn, name.strip()))
    return number


def admin_post(name: str, handler: Any, summary: str, **more: Any) -> Endpoint:
    return Endpoint(
        "POST", f"/api/admin/projects/{name}", handler, summary, right=Right.FULL,
        area="admin", **more,
    )  # fmt: skip


ASKED = {"project": NAME, "cwd": {"type": "string", "minLength": 1, "maxLength": 4096}}
ONE = {"anyOf": [{"required": ["project"]}, {"required": ["cwd"]}]}

ENDPOINTS = (
    Endpoint(
        "GET", "/api/admin/projects", places, "Projects as places", right=Right.FULL,
        area="admin",
    ),
    Endpoint(
        "GET", "/api/admin/projects/known", known, "The project of a label or id",
        params=(text("name", required=True, longest=4096),), right=Right.FULL, area="admin",
        answers={200: record({"id": {"type": "integer"}}, "id"), 404: ERROR},
    ),
    admin_post(
        "link", link, "Make a project one with another",
        body={**record({**ASKED, "other": NAME}, "other"), **ONE},
        answers={200: LINKED, 404: ERROR, 409: ERROR},
    ),
    admin_post(
        "unlink", unlink, "Take a link back",
        body={**record(ASKED), **ONE}, answers={200: LINKED, 404: ERROR, 409: ERROR},
    ),
    admin_post(
        "told", told, "The offered links were shown", body=OBJECT, body_optional=True,
        answers={200: record({"told": {"type": "integer"}}, "told")},
    ),
)  # fmt: skip
