"""The protocol: JSON-RPC messages in, answers out. It holds no state between two of them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

from claude_mem_core import __version__
from claude_mem_core.errors import MemError
from claude_mem_core.mcp.asker import Asker
from claude_mem_core.mcp.changing import BY_NAME as CHANGING_BY_NAME
from claude_mem_core.mcp.changing import CHANGING
from claude_mem_core.mcp.plugged import Plugged
from claude_mem_core.mcp.texts import INSTRUCTIONS
from claude_mem_core.mcp.tools import BY_NAME, TOOLS
from claude_mem_core.plugins.calls import call_async, describe

log = logging.getLogger(__name__)

NAME = "claude-mem"
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MOST_MESSAGES = 50

INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32600, -32601, -32602

Json = dict[str, Any]


class ProtocolError(Exception):
    """A request that is none; `code` is JSON-RPC's."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


async def answers(message: Any, asker: Asker) -> Json | list[Json] | None:
    """The answer to a message, or to several in a list; None when none is due."""
    if not isinstance(message, list):
        return await answer(message, asker)
    if not message or len(message) > MOST_MESSAGES:
        return _failed(None, INVALID_REQUEST, f"a batch holds 1 to {MOST_MESSAGES} messages")
    found = [await answer(one, asker) for one in message]
    return [one for one in found if one is not None] or None


async def answer(message: Any, asker: Asker) -> Json | None:
    """The answer to one message; None for notifications and answers."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return _failed(None, INVALID_REQUEST, "this is no JSON-RPC 2.0 message")
    number, method = message.get("id"), message.get("method")
    if method is None or "id" not in message:
        return None
    if not isinstance(method, str) or not _is_id(number):
        return _failed(None, INVALID_REQUEST, "a request has a method and an id")
    params = message.get("params")
    try:
        result = await _result(method, params if isinstance(params, dict) else {}, asker)
    except ProtocolError as error:
        return _failed(number, error.code, str(error))
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _is_id(number: object) -> bool:
    return isinstance(number, str | int | float) and not isinstance(number, bool)


def _failed(number: Any, code: int, text: str) -> Json:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}}


async def _result(method: str, params: Json, asker: Asker) -> Json:
    if method == "initialize":
        return _hello(params)
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": list(_listed(asker))}
    if method == "tools/call":
        return await _called(params, asker)
    raise ProtocolError(NO_METHOD, f"there is no method {method[:80]}")


def _hello(params: Json) -> Json:
    wished = params.get("protocolVersion")
    return {
        "protocolVersion": wished if wished in VERSIONS else VERSIONS[0],
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {
            "name": NAME,
            "title": "Memory of coding sessions",
            "version": __version__,
        },
        "instructions": INSTRUCTIONS,
    }


def _listed(asker: Asker) -> Iterator[Json]:
    if not asker.settings["CLAUDE_MEM_MCP_ENABLED"]:
        return
    for tool in (*TOOLS, *(CHANGING if asker.may_write else ())):
        if asker.settings[tool.switch]:
            yield tool.listed()
    yield from Plugged(asker).listed()


async def _called(params: Json, asker: Asker) -> Json:
    """What a tool answers; its failure is an answer too, which the model can read."""
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str):
        raise ProtocolError(INVALID_PARAMS, "name must be the name of a tool")
    if arguments is not None and not isinstance(arguments, dict):
        raise ProtocolError(INVALID_PARAMS, "arguments must be an object")
    if not asker.settings["CLAUDE_MEM_MCP_ENABLED"]:
        return _said(
            "the memory's tools are switched off: `mem config set CLAUDE_MEM_MCP_ENABLED true`",
            failed=True,
        )
    if asker.is_shut_out:
        return _said("this project is excluded from the memory", failed=True)
    return await _run(name, arguments or {}, asker)


async def _run(name: str, arguments: Mapping[str, Any], asker: Asker) -> Json:
    own = BY_NAME.get(name) or CHANGING_BY_NAME.get(name)
    if own is None:
        plugged = Plugged(asker)
        if not plugged.has(name):
            raise ProtocolError(INVALID_PARAMS, f"there is no tool {name[:80]}")
        outcome = await plugged.call(name, arguments)
    elif not asker.settings[own.switch]:
        return _said(f"this tool is switched off: `mem config set {own.switch} true`", failed=True)
    else:
        outcome = await call_async(name, own.run, asker, arguments)
    if outcome.error is None:
        return _said(str(outcome.value))
    if isinstance(outcome.error, MemError):
        return _said(str(outcome.error)[:1000], failed=True)
    log.error("tool %s: %s", name, describe(outcome.error))
    return _said(f"the tool {name} failed; `mem logs` says more", failed=True)


def _said(text: str, *, failed: bool = False) -> Json:
    found: Json = {"content": [{"type": "text", "text": text}]}
    return {**found, "isError": True} if failed else found
