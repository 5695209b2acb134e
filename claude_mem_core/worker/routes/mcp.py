"""The MCP server: one message, or several, a request; see `claude_mem_core.mcp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from claude_mem_core.worker.spec import Call, Endpoint, Reply, Right, record, text

if TYPE_CHECKING:
    from starlette.responses import Response

_BOOLEAN = {"type": "boolean"}


async def serve(call: Call) -> object:
    """Answer as the protocol has it; 202 where no answer is due."""
    from claude_mem_core.mcp.asker import Asker
    from claude_mem_core.mcp.server import answers

    client, cwd = call.params["client"], call.params["cwd"]
    settings = call.services.settings.current()
    place = call.services.recorder.place(cwd, settings) if cwd else None
    asker = Asker(client=client, cwd=cwd, place=place, call=call, settings=settings)
    found = await answers(call.body, asker)
    return _accepted() if found is None else found


def _accepted() -> Response:
    from starlette.responses import Response

    return Response(status_code=202)


async def no_stream(call: Call) -> object:
    """This server has nothing to say unasked, and no session to end."""
    return Reply({"error": "send a JSON-RPC message with POST"}, 405)


async def status(call: Call) -> dict[str, bool]:
    """Whether the memory's tools are served."""
    return {"enabled": bool(call.services.settings.current()["CLAUDE_MEM_MCP_ENABLED"])}


async def toggle(call: Call) -> dict[str, bool]:
    """Serve the memory's tools, or none; clients see it at their next session."""
    wished = call.body["enabled"]
    call.services.settings.update({"CLAUDE_MEM_MCP_ENABLED": "true" if wished else "false"})
    return {"success": True, "enabled": wished}


ENDPOINTS = (
    Endpoint(
        "POST",
        "/mcp",
        serve,
        "The MCP server (streamable HTTP, stateless)",
        params=(
            text("client", default="http", longest=60, pattern=r"^[\w.-]*$"),
            text("cwd", default="", longest=4096, help="directory of the client's project"),
        ),
        body={},
        right=Right.FULL,
        area="mcp",
        listed=False,
    ),
    Endpoint("GET", "/mcp", no_stream, "No stream", right=Right.FULL, area="mcp", listed=False),
    Endpoint(
        "DELETE", "/mcp", no_stream, "No session", right=Right.FULL, area="mcp", listed=False
    ),
    Endpoint(
        "GET",
        "/api/mcp/status",
        status,
        "Whether MCP is served",
        answers={200: record({"enabled": _BOOLEAN}, "enabled")},
        area="settings",
    ),
    Endpoint(
        "POST",
        "/api/mcp/toggle",
        toggle,
        "Serve MCP or not",
        body=record({"enabled": _BOOLEAN}, "enabled", strict=True),
        answers={200: record({"enabled": _BOOLEAN}, "enabled")},
        area="settings",
    ),
)
