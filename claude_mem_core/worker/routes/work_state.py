"""The to-do lists that agents keep for the sessions after theirs."""

from __future__ import annotations

from typing import Any

import attrs

from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.projects import excluded
from claude_mem_core.recall.work_state import SWITCH
from claude_mem_core.settings.pausing import is_paused, paused_text
from claude_mem_core.store import projects, work_lists
from claude_mem_core.store.work_lists import (
    DEFAULT,
    MOST_TASKS,
    NAME_CHARS,
    STATES,
    TASK_CHARS,
    Task,
    WorkList,
)
from claude_mem_core.worker.routes.memory import place_asked
from claude_mem_core.worker.spec import (
    OBJECT,
    Call,
    Endpoint,
    Refused,
    Right,
    array,
    flag,
    host_name,
    limit,
    project,
    record,
    string,
    text,
)

MOST = 50


async def lists(call: Call) -> dict[str, Any]:
    """The lists on which something is open, newest first; with `all` every one."""
    _enabled(call)
    name, most = call.params["project"], min(call.params["limit"], MOST)
    wished, open_only = call.params["request_id"] or "", not call.params["all"]

    def read(conn: Any) -> list[WorkList]:
        among = projects.find(conn, name) if name else None
        return work_lists.read(conn, among, most, request_id=wished, open_only=open_only)

    found = await call.services.store.aread(read)
    return {"items": [shown(one) for one in found]}


def shown(one: WorkList) -> dict[str, Any]:
    """A list as the API gives it."""
    tasks = [{"task": task.text, "state": task.state} for task in one.tasks]
    return {**attrs.asdict(one, filter=attrs.filters.exclude("tasks")), "tasks": tasks}


async def write(call: Call) -> dict[str, Any]:
    """Keep a list in the place of the one of the same goal; an empty one removes it."""
    _enabled(call)
    settings, body = call.services.settings.current(), call.body
    if is_paused(settings):
        raise Refused(409, f"nothing is kept: {paused_text(settings)}; `mem resume` ends that")
    place = await place_asked(call)
    if excluded(place, body.get("cwd") or "", settings):
        raise Refused(409, "nothing is kept: this project is excluded from the memory")
    clean = call.services.cleaners.current(settings).text
    goal = clean(body.get("request_id") or DEFAULT, "prompt").strip() or DEFAULT
    title = clean(body.get("title") or "", "prompt").strip()
    tasks = [
        Task(said, one.get("state") or STATES[0])
        for one in body["tasks"]
        if (said := clean(one["task"], "prompt").strip())
    ]
    host = host_name(body.get("platformSource"))

    def keep(conn: Any) -> tuple[int, str]:
        now = now_ms()
        where = projects.resolve(conn, place, now)
        return work_lists.write(conn, where, host, goal, title, tasks, now), where.label

    number, label = await call.services.store.awrite(keep)
    call.services.bus.publish("work_changed", id=number)
    still = sum(task.is_open for task in tasks)
    return {
        "saved": True, "id": number, "project": label, "request_id": goal, "open": still,
        "total": len(tasks),
    }  # fmt: skip


def _enabled(call: Call) -> None:
    if not call.services.settings.current()[SWITCH]:
        raise Refused(409, f"work state is switched off: `mem config set {SWITCH} true`")


_MAYBE = {"type": ["string", "null"], "maxLength": 4096}
_NAME = {"type": ["string", "null"], "maxLength": NAME_CHARS}
_TASK = record(
    {
        "task": string(longest=TASK_CHARS, shortest=1),
        "state": {"type": ["string", "null"], "enum": [*STATES, None]},
    },
    "task",
)
ENDPOINTS = (
    Endpoint(
        "GET", "/api/work-state", lists, "To-do lists that agents keep",
        params=(
            project(),
            text("request_id", longest=NAME_CHARS, help="only the list of this goal"),
            flag("all", help="also lists on which all is done"),
            limit(20, MOST),
        ),
        answers={200: record({"items": {"type": "array"}}, "items"), 409: OBJECT},
        area="context",
    ),
    Endpoint(
        "POST", "/api/work-state", write, "Keep a to-do list",
        body=record(
            {
                "tasks": array(_TASK, MOST_TASKS), "title": _NAME, "request_id": _NAME,
                "project": _MAYBE, "cwd": _MAYBE, "platformSource": _MAYBE,
            },
            "tasks",
            strict=True,
        ),
        answers={200: record({"saved": {"type": "boolean"}}, "saved"), 409: OBJECT},
        right=Right.FULL, area="context",
    ),
)  # fmt: skip
