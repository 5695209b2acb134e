"""Memories that somebody writes by hand, and imports."""

from __future__ import annotations

import asyncio
from typing import Any

from claude_mem_core.errors import InvalidInput
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.projects import Place, place_of
from claude_mem_core.store import memories, personal, projects, subjects
from claude_mem_core.types import Trust
from claude_mem_core.worker import import_schema
from claude_mem_core.worker.intake import named
from claude_mem_core.worker.routes.personal import by_hand
from claude_mem_core.worker.spec import (
    INT64,
    OBJECT,
    Call,
    Endpoint,
    Refused,
    Right,
    record,
    string,
)

TITLE_WORDS = 12
ID = {"type": "integer", "minimum": 1, "maximum": INT64}


def trust_of(call: Call) -> Trust:
    """How far the text may go. `typed`: whether a person typed it at a terminal.

    Over TCP any program may be asking, and for an agent nobody knows who told it to.
    """
    typed = call.body.get("typed")
    if not call.local or typed is False:
        return Trust.FOREIGN
    return Trust.USER if typed else Trust.WORK


async def save(call: Call) -> dict[str, Any]:
    """Keep a memory that somebody wrote by hand."""
    settings = call.services.settings.current()
    cleaner = call.services.cleaners.current(settings)
    text = cleaner.text(call.body["text"], "prompt").strip()
    if not text:
        return {"success": False, "message": "nothing is left of the text after cleaning"}
    given = cleaner.text(call.body.get("title") or "", "prompt").strip()
    title = given or " ".join(text.split()[:TITLE_WORDS])
    metadata = cleaner.value(call.body.get("metadata") or {}, "tool")
    trust, own = trust_of(call), bool(call.body.get("personal"))
    if own:
        by_hand(call)
    place = None if own else await place_asked(call)

    def write(conn: Any) -> Any:
        now = now_ms()
        project = projects.resolve(conn, place, now) if place else personal.project(conn, now)
        made = memories.save_manual(conn, title, text, project, trust, now, metadata)
        subjects.settle(conn, made.id)
        subjects.replace(conn, made.id, call.body.get("replaces") or ())
        if own:
            personal.promote(conn, made.id, None, now)
        return made

    try:
        kept = await call.services.store.awrite(write)
    except InvalidInput as error:  # too many are personal, or what it replaces is trusted more
        raise Refused(409, str(error)) from error
    call.services.indexer.wake()
    call.services.bus.publish("new_observation", id=kept.id, project=kept.project)
    return {
        "success": True, "id": kept.id, "title": kept.title, "project": kept.project,
        "message": f"Memory #{kept.id} is kept",
    }


async def place_asked(call: Call) -> Place:
    """The place that a body names, by `project` or by `cwd`."""
    label = call.body.get("project")
    if label:
        return await call.services.store.aread(lambda conn: named(conn, label))
    settings = call.services.settings.current()
    return place_of(call.body.get("cwd") or "", settings, "")


async def import_memories(call: Call) -> Any:
    """Take in an export, less what is of folders where memory is off: all, or nothing."""
    from claude_mem_core.pipeline.off import leave_out
    from claude_mem_core.store import imports

    services = call.services
    fault = services.registry.recording_fault()
    if fault is not None:
        raise Refused(503, f"nothing is imported while recording is stopped: {fault}")
    settings = services.settings.current()
    cleaner = services.cleaners.current(settings)
    staged = await asyncio.to_thread(imports.read_json, call.body, cleaner)
    try:
        await services.store.aread(lambda conn: leave_out(conn, staged, settings))
        counts = await services.store.awrite(lambda conn: imports.keep(conn, staged, now_ms()))
    finally:
        staged.close()
    services.indexer.wake()
    return counts.answer()


ENDPOINTS = (
    Endpoint(
        "POST", "/api/memory/save", save, "Keep a memory",
        body=record(
            {
                "text": string(longest=65_536, shortest=1),
                "title": {"type": ["string", "null"], "maxLength": 500},
                "project": {"type": ["string", "null"], "maxLength": 4096},
                "cwd": {"type": ["string", "null"], "maxLength": 4096},
                "metadata": {"type": ["object", "null"]},
                "typed": {"type": ["boolean", "null"]},
                "personal": {"type": ["boolean", "null"]},
                "replaces": {"type": ["array", "null"], "maxItems": 100, "items": ID},
            },
            "text",
            strict=True,
        ),
        answers={
            200: record({"success": {"type": "boolean"}}, "success"),
            403: OBJECT, 404: OBJECT, 409: OBJECT,
        },
        right=Right.FULL, area="memory",
    ),
    Endpoint(
        "POST", "/api/import", import_memories, "Import memories",
        body=import_schema.body(),
        answers={200: OBJECT}, right=Right.FULL, area="memory",
    ),
)
