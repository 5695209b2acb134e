"""A loopback observer: Chat Completions on 127.0.0.1, answered by a logged-in agent.

It says nothing but the observer's XML. Prose, and an answer that takes too long, become a
`skip_summary` with the reason, since some who ask would drop their batch on anything else.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import anyio

from claude_mem_core.errors import Failure, InvalidInput, ProviderError, UsageError
from claude_mem_core.types import Message
from claude_mem_provider_host.agent import ask, missing

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

ROOTS = re.compile(r"<(?:observation|summary)\b[\s\S]*</(?:observation|summary)>")
SKIP = re.compile(r"<skip_summary\b[^<>]*/>")
BODY_BYTES = 4_000_000
STATUS = {
    Failure.KEY_REFUSED: 401,
    Failure.PAYMENT: 402,
    Failure.MODEL: 404,
    Failure.TOO_LONG: 413,
    Failure.RATE_LIMIT: 429,
    Failure.QUOTA: 429,
    Failure.OVERLOAD: 503,
}


def skip(reason: str) -> str:
    """Nothing to keep, and why."""
    return f'<skip_summary reason="{reason}" />'


def only_xml(text: str) -> str:
    """What of an answer is the observer's XML; a skip when nothing is."""
    found = ROOTS.search(text) or SKIP.search(text)
    return found[0] if found else skip("prose")


def application(agent: str, timeout_s: float, settings: Mapping[str, Any]) -> Starlette:
    """The server, without a socket."""
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.routing import Route

    async def chat(request: Request) -> Response:
        return await _chat(request, agent, timeout_s, settings)

    # A page in a browser can reach the loopback, but not under its own name or unasked.
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])
    routes = [
        Route("/v1/chat/completions", chat, methods=["POST"]),
        Route("/v1/models", _models),
        Route("/health", _health),
    ]
    return Starlette(routes=routes, middleware=[hosts])


async def _health(_: Request) -> Response:
    from starlette.responses import JSONResponse

    return JSONResponse({"status": "ok"})


async def _models(_: Request) -> Response:
    from starlette.responses import JSONResponse

    return JSONResponse({"object": "list", "data": [{"id": "host", "object": "model"}]})


async def _chat(
    request: Request, agent: str, timeout_s: float, settings: Mapping[str, Any]
) -> Response:
    from starlette.responses import JSONResponse

    if request.headers.get("origin") or not _is_json(request):
        return JSONResponse(_error("only programs that send JSON are answered"), 403)
    try:
        system, messages = await _read(request)
    except InvalidInput as error:
        return JSONResponse(_error(str(error)), 400)
    try:
        with anyio.fail_after(timeout_s):
            text = only_xml(await ask(agent, system, messages, settings))
    except TimeoutError:
        text = skip("timeout")
    except ProviderError as error:
        return JSONResponse(_error(str(error)), STATUS.get(error.failure, 502))
    return JSONResponse(_completion(text, system, messages))


def _is_json(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0]
    return kind.strip().lower() == "application/json"


async def _read(request: Request) -> tuple[str, list[Message]]:
    """The instructions and the conversation of a request.

    Raises:
        InvalidInput: it is not one.
    """
    if int(request.headers.get("content-length") or 0) > BODY_BYTES:
        raise InvalidInput(f"at most {BODY_BYTES:,} bytes are read")
    try:
        body = await request.json()
        given = [(str(m["role"]), _text(m["content"])) for m in body["messages"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InvalidInput("the body is no chat completion request") from None
    system = "\n\n".join(text for role, text in given if role in {"system", "developer"})
    said = [
        Message(role=role, text=text) for role, text in given if role in {"user", "assistant"}
    ]
    if not said:
        raise InvalidInput("there is no message of a user")
    return system, said


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in content if part.get("type") == "text")


def _error(text: str) -> dict[str, Any]:
    return {"error": {"message": text, "type": "host_observer"}}


def _completion(text: str, system: str, messages: list[Message]) -> dict[str, Any]:
    """The answer in its form; tokens are estimated, the agent names none."""
    sent = (len(system) + sum(len(message.text) for message in messages)) // 4
    usage = {"prompt_tokens": sent, "completion_tokens": len(text) // 4}
    message = {"role": "assistant", "content": text}
    return {
        "id": f"host-{time.time_ns()}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": "host",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {**usage, "total_tokens": sum(usage.values())},
    }


def serve(agent: str, port: int, timeout_s: float) -> int:
    """Answer on the port until it is stopped.

    Raises:
        UsageError: the agent is not there, or the port is taken, by the worker perhaps.
    """
    import socket

    import uvicorn

    from claude_mem_provider_host import COMMAND

    lacking = missing({COMMAND: agent})
    if lacking:
        raise UsageError(lacking.replace("mem config set host-observer-command", "--agent"))
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError as error:
        listening.close()
        text = f"port {port} is not to be had ({error.strerror}): choose another with --port"
        raise UsageError(text) from None
    config = uvicorn.Config(application(agent, timeout_s, {}), log_level="warning")
    with listening:
        uvicorn.Server(config).run(sockets=[listening])
    return 0
