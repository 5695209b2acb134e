"""The older session endpoints, which name a session by the number of its row."""

from __future__ import annotations

from typing import Any

import attrs

from claude_mem_core.errors import NotFound
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.store import fetch, sessions
from claude_mem_core.types import Event, EventKind
from claude_mem_core.worker import intake
from claude_mem_core.worker.spec import ANY, OBJECT, Call, Endpoint, Right, record, row_id

ID = row_id("sessionDbId")
COUNTS = """
  SELECT (SELECT count(*) FROM observations WHERE session_db_id = ?1),
    (SELECT count(*) FROM session_summaries WHERE session_db_id = ?1)
"""
PENDING = """
  SELECT count(*) FROM pending_messages WHERE session_db_id = ? AND status != 'failed'
"""


async def _session(call: Call) -> sessions.Session:
    number = call.params["sessionDbId"]
    found = await call.services.store.aread(lambda conn: sessions.get(conn, number))
    if found is None:
        raise NotFound(f"Session #{number} not found")
    return found


def _event(session: sessions.Session, kind: EventKind, **more: Any) -> Event:
    return Event(
        kind=kind, host=session.host, session_id=session.session_id, cwd=session.cwd,
        at_ms=now_ms(), host_event="api", **more,
    )


async def _accepted(call: Call, session: sessions.Session, event: Event) -> Any:
    return await intake.accept(call, event, session.project)


async def init(call: Call) -> dict[str, Any]:
    """Go on with a session; a prompt is kept when one is given."""
    session = await _session(call)
    prompt = call.body.get("userPrompt")
    if prompt:
        await _accepted(call, session, _event(session, EventKind.PROMPT_SENT, prompt=prompt))
    return {"success": True, "session_id": session.session_id}


async def observations(call: Call) -> dict[str, Any]:
    """One use of a tool."""
    session = await _session(call)
    event = _event(session, EventKind.TOOL_USED, tool=intake.tool_of(call.body))
    if call.body.get("cwd"):
        event = attrs.evolve(event, cwd=call.body["cwd"])
    receipt = await _accepted(call, session, event)
    return {"success": True, "observation_id": receipt.event_id}


async def summarize(call: Call) -> dict[str, Any]:
    """The end of a turn."""
    session = await _session(call)
    answer = call.body.get("last_assistant_message") or None
    receipt = await _accepted(call, session, _event(session, EventKind.TURN_ENDED, answer=answer))
    return {"success": True, "summary_id": receipt.event_id}


async def complete(call: Call) -> dict[str, Any]:
    """The end of a session."""
    session = await _session(call)
    await _accepted(call, session, _event(session, EventKind.SESSION_ENDED))
    return {"success": True}


async def status(call: Call) -> dict[str, Any]:
    """How far a session is."""
    session = await _session(call)
    found = await call.services.store.aread(lambda conn: fetch.rows(conn, COUNTS, session.id))
    made, summed = found[0]
    return {
        "session_id": session.session_id, "status": session.status,
        "observation_count": made, "summary_count": summed,
    }


async def delete(call: Call) -> dict[str, Any]:
    """End a session. Nothing is deleted: its work waits in the database and is done."""
    session = await _session(call)
    await _accepted(call, session, _event(session, EventKind.SESSION_ENDED))
    count = await call.services.store.aread(
        lambda conn: fetch.value(conn, PENDING, session.id)
    )
    return {"success": True, "pendingCount": count}


def _endpoint(method: str, path: str, handler: Any, summary: str, body: Any = None) -> Endpoint:
    return Endpoint(
        method, "/sessions/{sessionDbId}" + path, handler, summary, params=(ID,), body=body,
        body_optional=True, answers={200: OBJECT, 404: OBJECT}, right=Right.FULL, area="legacy",
    )


TOOL = record(
    {
        "tool_name": {"type": "string", "minLength": 1, "maxLength": 1000},
        "tool_input": ANY, "tool_response": ANY, "tool_result": ANY,
        "prompt_number": {"type": ["integer", "null"]},
        "cwd": intake.SHORT, "correlation_id": intake.SHORT, "tool_use_id": intake.SHORT,
    },
    "tool_name",
)

ENDPOINTS = (
    _endpoint(
        "POST", "/init", init, "Go on with a session (older form)",
        record({
            "sdk_session_id": intake.SHORT, "project": intake.SHORT,
            "userPrompt": intake.TEXT, "promptNumber": {"type": ["integer", "null"]},
        }),
    ),
    attrs.evolve(
        _endpoint("POST", "/observations", observations, "Report a tool use (older form)", TOOL),
        body_optional=False,
    ),
    _endpoint(
        "POST", "/summarize", summarize, "Report the end of a turn (older form)",
        record({
            "trigger": intake.SHORT, "last_user_message": intake.TEXT,
            "last_assistant_message": intake.TEXT,
        }),
    ),
    _endpoint("POST", "/complete", complete, "Report the end of a session (older form)", OBJECT),
    _endpoint("GET", "/status", status, "How far a session is (older form)"),
    _endpoint("DELETE", "", delete, "End a session (older form)"),
)
