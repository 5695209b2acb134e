"""The to-do lists that agents keep: one for each goal of a project, written as a whole.

They stay when the switch for them is off, and go when their project is forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw
import attrs

from claude_mem_core.store import fetch, text
from claude_mem_core.store.projects import ProjectRef

STATES = ("queued", "doing", "blocked", "needs_you", "done")
MOST_TASKS = 50
MOST_LISTS = 50  # of one project; the oldest give way
TASK_CHARS = 500
NAME_CHARS = 200
DEFAULT = "main"  # the goal of an agent that names none

_PUT = """
  INSERT INTO work_lists (project, project_id, platform_source, request_id, title, tasks, open,
    created_at_epoch, updated_at_epoch)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)
  ON CONFLICT (project_id, request_id) DO UPDATE SET platform_source = ?3, tasks = ?6, open = ?7,
    title = iif(?5 = '', title, ?5), updated_at_epoch = max(?8, updated_at_epoch)
  RETURNING id
"""
# What is done goes before what is open, the oldest first.
_PRUNE = """
  DELETE FROM work_lists WHERE id IN (
    SELECT id FROM work_lists WHERE project_id = ?1 AND id <> ?2
    ORDER BY open > 0 DESC, updated_at_epoch DESC, id DESC LIMIT -1 OFFSET ?3)
"""
_READ = """
  SELECT id, project, platform_source, request_id, title, tasks, open, updated_at_epoch
  FROM work_lists WHERE {where} ORDER BY updated_at_epoch DESC, id DESC LIMIT ?2
"""
# Two forms, so that the one for some projects walks their part of the index alone.
_MINE, _ALL = "project_id IN (SELECT value FROM json_each(?1))", "?1 IS NULL"


@attrs.frozen
class Task:
    """One thing to do, and how far it is: one of `STATES`."""

    text: str
    state: str = STATES[0]

    @property
    def is_open(self) -> bool:
        """Whether it is still to be done."""
        return self.state != "done"


@attrs.frozen(kw_only=True)
class WorkList:
    """A list as it is kept."""

    id: int
    project: str
    host: str
    request_id: str
    title: str
    tasks: tuple[Task, ...]
    open: int
    updated_ms: int


def write(
    conn: apsw.Connection, project: ProjectRef, host: str, request_id: str, title: str,
    tasks: Sequence[Task], now: int,
) -> int:  # fmt: skip
    """Put a list in the place of the one of that goal; without tasks it goes, and 0 is told."""
    if not tasks:
        sql = "DELETE FROM work_lists WHERE project_id = ? AND request_id = ?"
        conn.execute(sql, (project.id, text.safe(request_id)))
        return 0
    kept = text.dumps([{"task": task.text, "state": task.state} for task in tasks])
    still = sum(task.is_open for task in tasks)
    values = (
        project.label, project.id, text.safe(host), text.safe(request_id), text.safe(title),
        kept, still, now,
    )  # fmt: skip
    number = int(fetch.value(conn, _PUT, *values))
    conn.execute(_PRUNE, (project.id, number, MOST_LISTS - 1))
    return number


def read(
    conn: apsw.Connection, project_ids: Sequence[int] | None, limit: int,
    *, request_id: str = "", open_only: bool = False,
) -> list[WorkList]:  # fmt: skip
    """The lists of these projects, the newest first; of all projects when None."""
    among = None if project_ids is None else text.dumps(list(project_ids))
    where = f"{_ALL if among is None else _MINE}{' AND open > 0' if open_only else ''}"
    if request_id:
        sql = _READ.format(where=f"{where} AND request_id = ?3")
        return list(map(_list, fetch.rows(conn, sql, among, limit, request_id)))
    return list(map(_list, fetch.rows(conn, _READ.format(where=where), among, limit)))


def _list(row: fetch.Row) -> WorkList:
    number, project, host, request_id, title, tasks, still, updated = row
    return WorkList(
        id=number, project=project, host=host, request_id=request_id, title=title,
        tasks=tuple(_tasks(tasks)), open=still, updated_ms=updated,
    )  # fmt: skip


def _tasks(kept: str) -> list[Task]:
    """Tasks as they are kept; a redacted column may hold other text."""
    try:
        found: Any = json.loads(kept)
    except ValueError:
        return []
    return [
        Task(str(one.get("task", "")), str(one.get("state", STATES[0])))
        for one in (found if isinstance(found, list) else ())
        if isinstance(one, dict)
    ]
