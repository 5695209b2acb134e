"""A scripted stand-in for the model services that agent programs call, on loopback only.

    talks = [Talk(match="FIX IT", turns=[Turn(calls=[Call("Read", {"file_path": "a.py"})]),
                                         Turn(text="Done.")])]
    with FakeModels(talks) as models:
        ...  # point the agent at models.url
        assert "earlier" in models.asked()[-1].text

It speaks Anthropic's Messages and OpenAI's Chat Completions, streamed and whole. A request
that offers tools is answered by the next turn of the first talk whose `match` is found in
what the user said; when its turns are used up, its last text is said again, so that an
agent always comes to an end. A request without tools (a title, a summary) gets `side`.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import attrs

from claude_mem_core.testing.model_wire import ANTHROPIC, CHAT, Wire


@attrs.frozen
class Call:
    """One tool call of the model."""

    name: str
    args: dict[str, Any] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Turn:
    """One reply: what the model says, which tools it calls, after how many seconds.

    `status` other than 200 makes it a failure with `text` as its message.
    """

    text: str = ""
    calls: Sequence[Call] = ()
    delay: float = 0.0
    status: int = 200


@attrs.define(kw_only=True)
class Talk:
    """The turns of one conversation, taken when `match` (a pattern) is in the user's words.

    List the particular ones first. `anywhere` looks in the whole request instead.
    """

    turns: Sequence[Turn]
    match: str = ""
    anywhere: bool = False
    used: int = 0

    def takes(self, request: Request) -> bool:
        """Whether this talk answers the request."""
        where = request.text if self.anywhere else request.said
        return re.search(self.match, where, re.DOTALL) is not None

    def next(self) -> Turn:
        """The next turn; past the end, the last text once more."""
        self.used += 1
        if self.used <= len(self.turns):
            return self.turns[self.used - 1]
        spoken = [turn.text for turn in self.turns if turn.text and turn.status == 200]
        return Turn(text=spoken[-1] if spoken else "Done.")


@attrs.frozen
class Request:
    """One request of the agent.

    Attributes:
        path: where it went.
        body: its JSON.
        text: the same as text, for looking something up in it.
        said: what the user said in it, tool results left out.
        tools: names of the tools it offers.
    """

    path: str
    body: dict[str, Any]
    text: str
    said: str
    tools: tuple[str, ...]


class FakeModels:
    """The server, as a context manager.

    Args:
        talks: the script.
        side: the answer to requests without tools.
    """

    def __init__(self, talks: Sequence[Talk], side: str = "ok") -> None:
        self.talks = list(talks)
        self.side = side
        self.requests: list[Request] = []
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.models = self
        self._serving = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def asked(self, match: str = "") -> list[Request]:
        """Requests of the main conversations so far whose user words have `match`."""
        return [r for r in self.requests if r.tools and re.search(match, r.said, re.DOTALL)]

    def reply(self, request: Request) -> Turn:
        """Note a request and choose its answer."""
        with self._lock:
            self.requests.append(request)
            particular = [talk for talk in self.talks if talk.match or request.tools]
            if not request.tools:
                particular = [talk for talk in particular if talk.anywhere]
            found = next((talk for talk in particular if talk.takes(request)), None)
            return found.next() if found else Turn(text=self.side)

    def __enter__(self) -> Self:
        self._serving.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    models: FakeModels


def _wire_of(path: str) -> Wire | None:
    plain = path.partition("?")[0]
    return next((w for w in (ANTHROPIC, CHAT) if plain.endswith(w.path)), None)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the requests are kept."""

    def do_GET(self) -> None:
        self._json({"object": "list", "data": [{"id": "fake-model", "object": "model"}]})

    do_HEAD = do_GET

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        wire = _wire_of(self.path)
        if wire is None:
            self._json({"input_tokens": len(raw) // 4})
            return
        body = json.loads(raw)
        said, tools = wire.read(body)
        turn = self.server.models.reply(Request(self.path, body, raw, said, tuple(tools)))
        time.sleep(turn.delay)
        if turn.status != 200:
            self._json(wire.failure(turn.text), turn.status)
        elif body.get("stream"):
            self._stream(wire.stream(turn, body))
        else:
            self._json(wire.whole(turn, body))

    def _json(self, value: Any, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, frames: Sequence[str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for frame in frames:
            self.wfile.write(frame.encode())
            self.wfile.flush()
