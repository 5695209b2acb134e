"""The agent's to-do list: kept as a whole, and read again by the sessions after it.

What is in it may come from a page that the agent read, so it is given back as data in our
frame, a line for each task, without what reads like an order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from claude_mem_core.errors import InvalidInput
from claude_mem_core.mcp import bounds
from claude_mem_core.mcp.asker import Asker, Scope
from claude_mem_core.recall.work_state import SWITCH, told
from claude_mem_core.render import for_prompt
from claude_mem_core.store import projects, work_lists
from claude_mem_core.store.work_lists import MOST_TASKS, NAME_CHARS, STATES, TASK_CHARS
from claude_mem_core.worker.routes import work_state as routes
from claude_mem_core.worker.spec import Refused

__all__ = ["MOST_TASKS", "STATES", "SWITCH", "read", "write"]

Arguments = Mapping[str, Any]


async def write(asker: Asker, arguments: Arguments) -> str:
    """Keep the list of a goal; the answer begins with `saved` only when it is kept.

    Raises:
        InvalidInput: it is no list, or it is too long, or the project is not open.
    """
    scope = await _scope(asker, arguments)
    body = {
        "tasks": _tasks(arguments.get("tasks")),
        "title": _name(arguments, "title"),
        "request_id": _name(arguments, "request_id"),
        "project": scope.project if arguments.get("project") else None,
        "cwd": asker.cwd,
        "platformSource": asker.client,
    }
    try:
        kept = await routes.write(attrs.evolve(asker.call, body=body, params={}))
    except Refused as error:
        raise InvalidInput(str(error)) from None
    label, goal = for_prompt(kept["project"], 80), for_prompt(kept["request_id"], NAME_CHARS)
    if not kept["id"]:
        return f"saved: the list {goal} of project {label} is removed"
    return f"saved: list {goal} of project {label}, {kept['open']} open of {kept['total']}"


async def read(asker: Asker, arguments: Arguments) -> str:
    """The lists of the client's project, or of the one it names and may see."""
    scope = await _scope(asker, arguments)
    goal = _name(arguments, "request_id")

    def find(conn: Any) -> list[work_lists.WorkList]:
        among = None if scope.project is None else projects.find(conn, scope.project)
        return work_lists.read(conn, among, 20, request_id=goal, open_only=not goal)

    found = await asker.call.services.store.aread(find)
    if not found:
        return "There is no open list here."
    return bounds.framed(told(found, MOST_TASKS), asker.call.services.fence_id)


async def _scope(asker: Asker, arguments: Arguments) -> Scope:
    named = str(arguments.get("project") or "")
    return await asker.call.services.store.aread(lambda conn: asker.scope(conn, named))


def _name(arguments: Arguments, key: str) -> str:
    given = arguments.get(key)
    return str(given).strip()[:NAME_CHARS] if isinstance(given, str | int) else ""


def _tasks(given: Any) -> list[dict[str, str]]:
    """Tasks as models write them: objects, or plain texts for what waits."""
    if not isinstance(given, list):
        raise InvalidInput(
            "tasks is required: a list of {task, state}; an empty one removes it"
        )
    if len(given) > MOST_TASKS:
        raise InvalidInput(f"at most {MOST_TASKS} tasks; nothing was kept")
    return [_task(one) for one in given]


def _task(one: Any) -> dict[str, str]:
    found = one if isinstance(one, Mapping) else {"task": one}
    said, state = found.get("task"), found.get("state") or STATES[0]
    if not isinstance(said, str) or not said.strip():
        raise InvalidInput("each task needs its text in `task`; nothing was kept")
    if len(said) > TASK_CHARS:
        raise InvalidInput(
            f"a task is one line of at most {TASK_CHARS} characters; nothing was kept"
        )
    if state not in STATES:
        raise InvalidInput(f"state is one of {', '.join(STATES)}; nothing was kept")
    return {"task": said, "state": str(state)}
