"""GET /stream over the socket, and the mounts of plugins."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from claude_mem_core.testing.worker import LiveWorker, running
from claude_mem_core.types import RouteSet
from claude_mem_core.worker import mounts
from claude_mem_core.worker.routes.stream import MOST, event


@pytest.fixture
def live() -> Iterator[LiveWorker]:
    with running() as worker:
        yield worker


class Stream:
    """An open event stream."""

    def __init__(self, live: LiveWorker) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(20)
        self._socket.connect(os.fspath(live.paths.socket))
        self._socket.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self._buffer = b""
        self.head = self._until(b"\r\n\r\n")

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._buffer:
            part = self._socket.recv(65_536)
            if not part:
                raise EOFError
            self._buffer += part
        found, _, self._buffer = self._buffer.partition(mark)
        return found

    def event(self) -> tuple[str, dict[str, Any]]:
        """The next event: its name and data. Comments and chunk sizes are passed over."""
        while True:
            text = self._until(b"\n\n").decode()
            lines = [line for line in text.splitlines() if line.startswith(("event:", "data:"))]
            if len(lines) == 2:
                name = lines[0].removeprefix("event: ")
                return name, json.loads(lines[1].removeprefix("data: "))

    def until(self, name: str) -> dict[str, Any]:
        """The data of the next event of that name."""
        while True:
            found, data = self.event()
            if found == name:
                return data

    def close(self) -> None:
        self._socket.close()


def test_a_stream_begins_with_what_there_is(live: LiveWorker) -> None:
    live.ask("POST", "/api/sessions/init", {"contentSessionId": "a", "project": "one"})
    stream = Stream(live)
    assert b"200 OK" in stream.head
    assert b"content-type: text/event-stream" in stream.head.lower()
    assert b"x-content-type-options: nosniff" in stream.head.lower()
    name, data = stream.event()
    assert name == data["type"] == "initial_load"
    assert data["projects"] == ["one"]
    assert data["sources"] == ["claude-code"]
    name, data = stream.event()
    assert name == "processing_status"
    assert {"isProcessing", "queueDepth", "parkedSessions"} <= set(data)
    assert live.ask("GET", "/api/health").json["sseClients"] == 1
    stream.close()


def test_what_happens_is_told(live: LiveWorker) -> None:
    stream = Stream(live)
    session = {"contentSessionId": "s", "project": "one"}
    live.ask("POST", "/api/sessions/init", {**session, "prompt": "fix the parser"})
    assert stream.until("session_started")["session_db_id"] == 1
    assert stream.until("new_prompt")["prompt_number"] == 1
    edit = {
        **session, "tool_name": "Edit", "tool_use_id": "t1", "tool_response": "ok",
        "tool_input": {"file_path": "/p/parser.py", "old_string": "a = 1", "new_string": "a = 2"},
    }  # fmt: skip
    live.ask("POST", "/api/sessions/observations", edit)
    assert stream.until("observation_queued")["event_id"] > 0
    end = {**session, "last_assistant_message": "The parser now starts at 2."}
    live.ask("POST", "/api/sessions/summarize", end)
    stream.until("summarize_queued")
    assert stream.until("new_observation")["project"] == "one"
    assert stream.until("new_summary")["id"] >= 1
    live.ask("POST", "/api/sessions/complete", {"contentSessionId": "s"})
    assert stream.until("session_completed")["session_db_id"] == 1
    stream.close()


def test_streams_end_with_the_worker(live: LiveWorker) -> None:
    streams = [Stream(live) for _ in range(3)]
    assert live.stop() == 0
    for stream in streams:
        with pytest.raises((EOFError, ConnectionError)):
            stream.until("never")
        stream.close()


def test_there_is_an_end_to_streams(live: LiveWorker) -> None:
    streams = [Stream(live) for _ in range(MOST + 1)]
    assert [b"503" in stream.head.split(b"\r\n")[0] for stream in streams].index(True) == MOST
    for stream in streams:
        stream.close()


def test_no_text_can_forge_an_event() -> None:
    raw = event("new_prompt", {"text": "a\n\ndata: {}\r\n\r\nevent: x\u2028y"})
    assert raw.count(b"\n") == 3
    assert raw.isascii()


async def _hello(_: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


async def _boom(_: Request) -> PlainTextResponse:
    raise RuntimeError("boom")


def _client(*records: RouteSet) -> TestClient:
    registry = SimpleNamespace(records=lambda *_: iter(records))
    services: Any = SimpleNamespace(registry=registry)
    return TestClient(Starlette(routes=mounts.routes(services)))


def good(_: Any) -> list[Route]:
    return [Route("/hello", _hello), Route("/boom", _boom)]


def bad(_: Any) -> list[Route]:
    raise ImportError("no such module")


def test_routes_of_plugins_are_under_their_own_mount() -> None:
    client = _client(RouteSet(name="nice", routes=good), RouteSet(name="broken", routes=bad))
    assert client.get("/x/nice/hello").text == "hello"
    broken = client.get("/x/broken/hello")
    assert broken.status_code == 503
    assert "mem plugins" in broken.json()["error"]
    assert client.get("/x/nice/boom").status_code == 503
    assert client.get("/x/nice/none").status_code == 404
    assert "claude-mem" in client.get("/").text


def test_a_plugin_may_bring_the_page_at_the_root() -> None:
    client = _client(RouteSet(name="viewer", routes=good, mount="/"))
    assert client.get("/hello").text == "hello"
    assert client.get("/").status_code == 404
