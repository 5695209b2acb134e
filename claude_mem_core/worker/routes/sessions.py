"""Sessions as other programs report them: begin, tool use, end of turn, end."""

from __future__ import annotations

from typing import Any

from claude_mem_core.types import EventKind
from claude_mem_core.worker import intake
from claude_mem_core.worker.spec import ANY, OBJECT, Call, Endpoint, Right, host_name, record

STATUS = record({"status": {"type": "string"}}, "status")


async def init(call: Call) -> dict[str, Any]:
    """Begin or continue a session, with its prompt when there is one."""
    body = call.body
    prompt = body.get("prompt")
    kind = EventKind.PROMPT_SENT if prompt else EventKind.SESSION_STARTED
    event = intake.event(kind, body, prompt=prompt or None)
    receipt = await intake.accept(call, event, body.get("project"))
    skipped = receipt.state == "skipped" or (receipt.duplicate and bool(prompt))
    reason = receipt.reason or ("duplicate" if skipped else None)
    given = await call.services.store.aread(lambda conn: _given(conn, receipt.session_db_id))
    answer = {
        "sessionDbId": receipt.session_db_id,
        "promptNumber": receipt.prompt_number,
        "skipped": skipped,
        "contextInjected": given,
        "status": "initialized",
    }
    return {**answer, "reason": reason} if skipped else answer


def _given(conn: Any, session: int) -> bool:
    sql = "SELECT 1 FROM context_given WHERE session_db_id = ? LIMIT 1"
    return conn.execute(sql, (session,)).fetchone() is not None


async def observations(call: Call) -> dict[str, Any]:
    """One use of a tool."""
    event = intake.event(EventKind.TOOL_USED, call.body, tool=intake.tool_of(call.body))
    return intake.queued(await intake.accept(call, event, call.body.get("project")))


async def summarize(call: Call) -> dict[str, Any]:
    """The end of a turn, with the agent's last words."""
    body = call.body
    if body.get("agentId"):
        return {"status": "skipped", "reason": "subagent_context"}
    host, session = host_name(body.get("platformSource")), intake.session_id(body)
    known = await call.services.store.aread(
        lambda conn: intake.known_session(conn, host, session)
    )
    if known is None:
        return {"status": "skipped", "reason": "unknown_session"}
    event = intake.event(
        EventKind.TURN_ENDED, body, answer=body.get("last_assistant_message") or None
    )
    return intake.queued(await intake.accept(call, event, body.get("project")))


async def complete(call: Call) -> dict[str, Any]:
    """The end of a session."""
    body = call.body
    host, session = host_name(body.get("platformSource")), intake.session_id(body)
    known = await call.services.store.aread(
        lambda conn: intake.known_session(conn, host, session)
    )
    if known is None:
        return {"success": True, "message": "No active session found"}
    event = intake.event(EventKind.SESSION_ENDED, body, reason=body.get("reason") or None)
    await intake.accept(call, event, body.get("project"))
    return {"success": True}


ENDPOINTS = (
    Endpoint(
        "POST", "/api/sessions/init", init, "Begin or continue a session",
        body=intake.session_body(prompt=intake.TEXT, customTitle=intake.SHORT),
        answers={200: OBJECT}, right=Right.FULL, area="sessions",
    ),
    Endpoint(
        "POST", "/api/sessions/observations", observations, "Report a use of a tool",
        body={
            **intake.session_body(
                tool_name={"type": "string", "minLength": 1, "maxLength": 1000},
                tool_input=ANY, tool_response=ANY, tool_use_id=intake.SHORT,
            ),
            "required": ["tool_name"],
        },
        answers={200: STATUS}, right=Right.FULL, area="sessions",
    ),
    Endpoint(
        "POST", "/api/sessions/summarize", summarize, "Report the end of a turn",
        body=intake.session_body(
            last_user_message=intake.TEXT, last_assistant_message=intake.TEXT
        ),
        answers={200: STATUS}, right=Right.FULL, area="sessions",
    ),
    Endpoint(
        "POST", "/api/sessions/complete", complete, "Report the end of a session",
        body=intake.session_body(reason=intake.SHORT),
        answers={200: record({"success": {"type": "boolean"}}, "success")},
        right=Right.FULL, area="sessions",
    ),
)
