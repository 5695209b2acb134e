"""A running `codex app-server`: JSON-RPC, one message a line."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing.classify import unusable
from claude_mem_provider_codex import NAME

LINE_BYTES = 16_000_000
DECLINED = {"code": -32601, "message": "claude-mem answers no requests and allows nothing"}

Json = dict[str, Any]


class AppServer:
    """Asks one thing after the other; what it is told meanwhile is kept in order."""

    def __init__(self, process: Process) -> None:
        assert process.stdout is not None
        self._process = process
        self._lines = BufferedByteReceiveStream(process.stdout)
        self._told: deque[Json] = deque()
        self._number = 0

    async def call(self, method: str, params: Json) -> Json:
        """The result of a call.

        Raises:
            ProviderError: it was refused, or the program ended.
        """
        self._number += 1
        number = self._number
        await self._send({"id": number, "method": method, "params": params})
        while True:
            message = await self._next()
            if message.get("id") == number and "method" not in message:
                return _result(message, method)
            await self._take(message)

    async def tell(self, method: str) -> None:
        """A message that wants no answer."""
        await self._send({"method": method})

    async def events(self) -> AsyncIterator[Json]:
        """What it tells, oldest first, without an end."""
        while True:
            while self._told:
                yield self._told.popleft()
            await self._take(await self._next())

    async def _take(self, message: Json) -> None:
        if "method" in message and "id" in message:
            await self._send({"id": message["id"], "error": DECLINED})
        elif "method" in message:
            self._told.append(message)

    async def _send(self, message: Json) -> None:
        assert self._process.stdin is not None
        try:
            await self._process.stdin.send(json.dumps(message).encode() + b"\n")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            raise _ended() from None

    async def _next(self) -> Json:
        """The next message; what is no JSON object is skipped."""
        while True:
            try:
                line = await self._lines.receive_until(b"\n", LINE_BYTES)
            except (anyio.IncompleteRead, anyio.EndOfStream):
                raise _ended() from None
            except anyio.DelimiterNotFound:
                raise unusable("Codex sends a line without an end", NAME) from None
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(message, dict):
                return message


def _result(message: Json, method: str) -> Json:
    error = message.get("error")
    if error is not None:
        words = error.get("message") if isinstance(error, dict) else error
        raise ProviderError(
            Failure.BAD_REQUEST, f"Codex refused {method}: {words}", provider=NAME
        )
    result = message.get("result")
    return result if isinstance(result, dict) else {}


def _ended() -> ProviderError:
    text = "Codex ended before it answered; run it by hand to see why: codex app-server"
    return ProviderError(Failure.OUTAGE, text, provider=NAME)
