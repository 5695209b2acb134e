"""The official MCP client at our server, over both of its transports."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import attrs
import httpx2  # noqa: TID253 - the official client takes one
import mcp
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from claude_mem_core.edge import bridge_argv
from claude_mem_core.paths import Paths
from claude_mem_core.testing.worker import LiveWorker
from tests.recall_store import Filled

TRANSPORTS = ("http", "stdio")


@asynccontextmanager
async def http(live: LiveWorker) -> AsyncIterator[mcp.Client]:
    """A client over streamable HTTP, with the token."""
    headers = {"Authorization": f"Bearer {live.token}"}
    url = f"http://127.0.0.1:{live.port}/mcp"
    async with (
        httpx2.AsyncClient(headers=headers) as web,
        mcp.Client(streamable_http_client(url, http_client=web)) as client,
    ):
        yield client


@asynccontextmanager
async def stdio(
    paths: Paths, cwd: str = "/", name: str = "claude-code"
) -> AsyncIterator[mcp.Client]:
    """A client over the bridge, as a host starts it."""
    program, *args = bridge_argv(paths)
    params = StdioServerParameters(command=program, args=[*args, name], cwd=cwd)
    async with mcp.Client(stdio_client(params)) as client:
        yield client


@attrs.frozen
class Said:
    """What a tool answered."""

    text: str
    failed: bool


def call(live: LiveWorker, via: str, tool: str, cwd: str = "/", **arguments: Any) -> Said:
    """Call one tool over one transport."""

    async def ask() -> Said:
        opened = http(live) if via == "http" else stdio(live.paths, cwd)
        async with opened as client:
            found = await client.call_tool(tool, arguments)
            (part,) = found.content
            assert part.type == "text"
            return Said(part.text, bool(found.is_error))

    return anyio.run(ask)


@attrs.frozen
class Bridge:
    """The bridge as a process, line by line."""

    process: subprocess.Popen[bytes]

    def send(self, *messages: Mapping[str, Any] | bytes) -> None:
        assert self.process.stdin is not None
        for message in messages:
            raw = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(raw + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, number: Any = 1, **params: Any) -> dict[str, Any]:
        """Send a request and read the next line."""
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return self.line()

    def line(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def rest(self) -> list[dict[str, Any]]:
        """Close our end; every line that is left."""
        out, _ = self.process.communicate(timeout=60)
        return [json.loads(line) for line in out.splitlines()]


@contextmanager
def bridge(paths: Paths, cwd: str = "/", name: str = "claude-code") -> Iterator[Bridge]:
    """A running bridge; it is ended at the end."""
    process = subprocess.Popen(
        [*bridge_argv(paths), name],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
    )  # fmt: skip
    try:
        yield Bridge(process)
    finally:
        process.kill()
        process.communicate()


def fill(paths: Paths) -> Filled:
    """A store to put rows into before the worker starts; close it then."""
    paths.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Filled(Path(paths.data))
