"""The worker itself: stop, restart, state, and the way for a browser to get in."""

from __future__ import annotations

from typing import Any

import attrs

from claude_mem_core.worker import report
from claude_mem_core.worker.spec import (
    ERROR,
    OBJECT,
    Call,
    Endpoint,
    Refused,
    Right,
    record,
    string,
    text,
)

STATUS = record({"status": {"type": "string"}}, "status")


async def shutdown(call: Call) -> dict[str, str]:
    """Stop, after what is in hand. With `reason=restart`, come back."""
    again = call.params["reason"] == "restart"
    call.worker.stop(restart=again)
    return {"status": "restarting" if again else "shutting_down"}


async def restart(call: Call) -> dict[str, str]:
    """Stop and come back; waiting work stays in the database and goes on."""
    call.worker.stop(restart=True)
    return {"status": "restarting"}


async def doctor(call: Call) -> dict[str, Any]:
    """What the worker knows of its own state; `mem status` and `mem doctor` show it."""
    return await report.state_of(call)


async def open_page(call: Call) -> dict[str, Any]:
    """Switch TCP on, if need be, and give a one-time code for a browser (30 s).

    With `{"code": false}` no code is made.
    """
    if call.worker.open_tcp is None:
        raise Refused(503, "the worker is starting")
    port = await call.worker.open_tcp()
    code = call.worker.sessions.new_code() if call.body.get("code", True) else None
    return {"port": port, "code": code, "note": call.worker.tcp.note}


async def session(call: Call) -> dict[str, Any]:
    """Trade a one-time code for a session token; it lives in memory for 12 hours."""
    token = call.worker.sessions.trade(call.body["code"])
    if token is None:
        raise Refused(401, "this code is used or too old; run `mem open` again")
    return {"token": token, "expires_in": 12 * 3600}


def _admin(method: str, name: str, handler: Any, summary: str, **more: Any) -> Endpoint:
    body = OBJECT if method == "POST" else None
    return Endpoint(
        method, f"/api/admin/{name}", handler, summary, body=body, body_optional=True,
        right=Right.FULL, area="admin", **more,
    )


ENDPOINTS = (
    _admin(
        "POST", "shutdown", shutdown, "Stop the worker", params=(text("reason", longest=100),),
        answers={200: STATUS}, listed=False,
    ),
    _admin("POST", "restart", restart, "Restart the worker", answers={200: STATUS}, listed=False),
    _admin("GET", "doctor", doctor, "State of the worker"),
    attrs.evolve(
        _admin("POST", "open", open_page, "Let a browser in"),
        body=record({"code": {"type": "boolean"}}),
    ),
    Endpoint(
        "POST", "/api/session", session, "Trade a one-time code for a session token",
        body=record({"code": string(longest=200, shortest=1)}, "code"),
        answers={200: record({"token": {"type": "string"}}, "token"), 408: ERROR},
        right=Right.NONE, area="viewer",
    ),
)
