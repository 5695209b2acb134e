"""Which projects a context is asked for, and whether they may be given to a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from claude_mem_core.projects import Place, excluded, place_of
from claude_mem_core.store import fetch, projects
from claude_mem_core.worker.routes.projects import place_of_project
from claude_mem_core.worker.spec import Call, Refused

_PLACE = """
  SELECT p.key, p.label, p.kind, s.repository
  FROM projects p LEFT JOIN project_places s ON s.project_key = p.key WHERE p.id = ?
"""
GENERAL = (
    "home, root and temp directories belong to no project: what happens there is kept"
    " apart and never given to a session"
)
EXCLUDED = (
    "this project is excluded: by CLAUDE_MEM_EXCLUDED_PROJECTS (`mem config get"
    " CLAUDE_MEM_EXCLUDED_PROJECTS`) or its own .claude-mem.json"
)


def labels(call: Call) -> list[str]:
    """The projects asked for, the main one last.

    Raises:
        Refused: 400 when none is named.
    """
    names = [name.strip() for name in call.params.get("projects", ()) if name.strip()]
    one = (call.params.get("project") or "").strip()
    names = [*names, one] if one else names
    if not names and not call.params.get("cwd"):
        raise Refused(400, "project is required: a label or id, see `mem projects`")
    return names


class Shut(Exception):
    """Nothing of what was asked for may be given; the text says why."""


def chosen(conn: apsw.Connection, call: Call, names: Sequence[str]) -> tuple[str, list[int]]:
    """Label and ids of the projects that may be shown.

    Raises:
        Shut: the place asked for is general or excluded.
    """
    settings = call.services.settings.current()
    if not names:
        place = place_of(call.params["cwd"], settings, "")
        known = projects.known(conn, place)
        if _shut(place, call.params["cwd"], settings):
            raise Shut(GENERAL if place.kind == "general" else EXCLUDED)
        ids = projects.find(conn, known.id) if known else []
        return known.label if known else place.label, ids
    ids = []
    for name in names:
        ids += [i for i in projects.find(conn, name) if i not in ids]
    places = {i: _place(conn, i) for i in ids}
    shut_off = {i for i, place in places.items() if _shut(place, place.root, settings)}
    main = projects.find(conn, names[-1])[:1]
    if main and main[0] in shut_off:
        raise Shut(GENERAL if places[main[0]].kind == "general" else EXCLUDED)
    label = places[main[0]].label if main else names[-1]
    return label, [i for i in ids if i not in shut_off]


async def settle(call: Call, names: Sequence[str]) -> None:
    """A project that moved to the directory asked about is followed first."""
    if not names:
        settings = call.services.settings.current()
        place = call.services.recorder.place(call.params["cwd"], settings)
        await call.services.recorder.moves.settle(place)


def _place(conn: apsw.Connection, number: int) -> Place:
    key, label, kind, repository = fetch.rows(conn, _PLACE, number)[0]
    root = place_of_project(conn, number, repository)
    return Place(key=key, label=label, kind=kind, root=root)


def _shut(place: Place, cwd: str, settings: Mapping[str, Any]) -> bool:
    """Whether nothing of a place may be given to a session."""
    return place.kind == "general" or excluded(place, cwd, settings)
