"""Events that come in by the API instead of a hook, in the documented forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import apsw

from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.projects import Place
from claude_mem_core.store import journal, projects
from claude_mem_core.types import Event, EventKind, ToolUse
from claude_mem_core.worker.spec import Call, Refused, Schema, host_name, record, string

BY_ID = "SELECT key, kind FROM projects WHERE id = ?"
KNOWN = """
  SELECT id FROM sdk_sessions WHERE platform_source = ? AND content_session_id = ?
"""

ID: Schema = string(longest=400, shortest=1)
SHORT: Schema = {"type": ["string", "null"], "maxLength": 4096}
TEXT: Schema = {"type": ["string", "null"], "maxLength": 16_000_000}
COMMON: Mapping[str, Schema] = {
    "contentSessionId": ID,
    "claudeSessionId": ID,
    "platformSource": SHORT,
    "project": SHORT,
    "cwd": SHORT,
    "agentId": SHORT,
    "agentType": SHORT,
}


def session_body(**more: Schema) -> Schema:
    """A body that names a session by either of the documented names."""
    both = record({**COMMON, **more})
    one = [{"required": ["contentSessionId"]}, {"required": ["claudeSessionId"]}]
    return {**both, "anyOf": one}


def session_id(body: Mapping[str, Any]) -> str:
    """The host's id of the session.

    Raises:
        Refused: 400, it is named by neither of the two.
    """
    found = body.get("contentSessionId") or body.get("claudeSessionId")
    if not found:
        raise Refused(400, "contentSessionId (or claudeSessionId) is missing")
    return str(found)


def event(kind: EventKind, body: Mapping[str, Any], **more: Any) -> Event:
    """An event of the session that `body` names."""
    return Event(
        kind=kind,
        host=host_name(body.get("platformSource")),
        session_id=session_id(body),
        cwd=body.get("cwd") or "",
        at_ms=now_ms(),
        agent_id=body.get("agentId") or None,
        agent_type=body.get("agentType") or None,
        host_event="api",
        **more,
    )


def tool_of(body: Mapping[str, Any]) -> ToolUse:
    """The tool use that `body` describes, by its documented names."""
    output = body.get("tool_response", body.get("tool_result"))
    number = body.get("tool_use_id") or body.get("correlation_id") or ""
    return ToolUse(
        name=body["tool_name"], id=str(number), input=body.get("tool_input"), output=output
    )


async def accept(call: Call, happened: Event, project: str | None) -> journal.Receipt:
    """Record an event that came by the API.

    `project` counts when the event has no working directory.
    """
    place = None
    if project and not happened.cwd:
        place = await call.services.store.aread(lambda conn: named(conn, project))
    receipt = await call.services.recorder.accept(happened, place=place)
    if happened.kind in {EventKind.TURN_ENDED, EventKind.SESSION_ENDED}:
        call.services.loop.wake()
    elif happened.kind is EventKind.PROMPT_SENT:
        call.services.indexer.wake()
    return receipt


def named(conn: apsw.Connection, label: str) -> Place:
    """The project that people call so; a new one when nothing is called so yet."""
    number = projects.labelled(conn, label)
    for key, kind in conn.execute(BY_ID, (number,)):
        return Place(key=key, label=label, kind=kind, root="")
    return Place(key=f"name:{label}", label=label, kind="named", root="")


def known_session(conn: apsw.Connection, host: str, session: str) -> int | None:
    """Row of a session; None when it was never seen."""
    for (number,) in conn.execute(KNOWN, (host, session)):
        return int(number)
    return None


def queued(receipt: journal.Receipt) -> dict[str, Any]:
    """How the API words a receipt."""
    if receipt.state == "skipped":
        return {"status": "skipped", "reason": receipt.reason}
    if receipt.duplicate:
        return {"status": "skipped", "reason": "duplicate"}
    return {"status": "queued"}
