"""A scripted stand-in for the model services that agent programs call, on loopback only.

    talks = [Talk(match="FIX IT", turns=[Turn(calls=[Call("Read", {"file_path": "a.py"})]),
                                         Turn(text="Done.")])]
    with FakeModels(talks) as models:
        ...  # point the agent at models.url
        assert "earlier" in models.asked()[-1].text

It speaks Anthropic's Messages, OpenAI's Chat Completions and Responses, and Gemini's
generateContent, streamed and whole. A request
that offers tools is answered by the next turn of the first talk whose `match` is found in
what the user said; when its turns are used up, its last text is said again, so that an
agent always comes to an end. A request without tools (a title, a summary) gets `side`, or
the talk with `anywhere` that takes it. What can go wrong with a service is in a turn too:

    Turn(status=429, text="slow down", headers={"Retry-After": "7"})
    Turn(status=502, raw="<html>Bad gateway</html>", headers={"Content-Type": "text/html"})
    Turn(text="half of it", cut=True)        # the connection ends in the middle
    Turn(text="half of it", stuck=True)      # ... or goes quiet there
    Turn(stuck=True)                         # never a word

`closed_port()` is where nobody listens.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import attrs

from claude_mem_core.testing.gemini_wire import GEMINI, GEMINI_STREAM
from claude_mem_core.testing.model_wire import ANTHROPIC, CHAT, Wire
from claude_mem_core.testing.responses_wire import RESPONSES

WIRES = (ANTHROPIC, CHAT, RESPONSES, GEMINI, GEMINI_STREAM)


@attrs.frozen
class Call:
    """One tool call of the model; `namespace` where the host keeps tools in groups."""

    name: str
    args: dict[str, Any] = attrs.field(factory=dict)
    namespace: str = ""


@attrs.frozen(kw_only=True)
class Turn:
    """One reply: what the model says, which tools it calls, after how many seconds.

    Attributes:
        status: other than 200 it is a failure with `text` as its message.
        headers: sent along, in place of ours where they have the same name.
        raw: sent as it is, in place of the service's own form.
        stop: the service's word for why the answer ended; empty: its usual one.
        cut: the connection ends in the middle of the answer.
        stuck: nothing more comes after the middle; without text, nothing at all.
        gate: the answer waits until it is set, for a test that says when.
    """

    text: str = ""
    calls: Sequence[Call] = ()
    delay: float = 0.0
    status: int = 200
    headers: Mapping[str, str] = attrs.field(factory=dict)
    raw: str | None = None
    stop: str = ""
    cut: bool = False
    stuck: bool = False
    gate: threading.Event | None = None


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
        headers: by lower name.
    """

    path: str
    body: dict[str, Any]
    text: str
    said: str
    tools: tuple[str, ...]
    headers: Mapping[str, str] = attrs.field(factory=dict)


def closed_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


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
        self._serving = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

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
        self._server.over.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    models: FakeModels

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.over = threading.Event()


def _wire_of(path: str) -> Wire | None:
    plain = path.partition("?")[0]
    return next((wire for wire in WIRES if plain.endswith(wire.path)), None)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the requests are kept."""

    def do_GET(self) -> None:
        self._json({"object": "list", "data": [{"id": "fake-model", "object": "model"}]})

    do_HEAD = do_GET

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        raw = data.decode("utf-8", "replace")
        wire = _wire_of(self.path)
        if wire is None:
            self._json({"input_tokens": len(raw) // 4})
            return
        try:
            body = json.loads(raw)
        except ValueError:  # compressed, or no JSON at all
            self._json(wire.failure("the body is no JSON"), Turn(status=400))
            return
        said, tools = wire.read(body)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, body, raw, said, tuple(tools), headers)
        turn = self.server.models.reply(request)
        self.server.over.wait(turn.delay)
        while turn.gate and not (turn.gate.wait(0.1) or self.server.over.is_set()):
            pass
        try:
            self._answer(wire, turn, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _answer(self, wire: Wire, turn: Turn, body: dict[str, Any]) -> None:
        if turn.stuck and not turn.text:
            self._quiet()
        elif turn.raw is not None:
            self._whole(turn.raw.encode(), turn)
        elif turn.status != 200:
            self._json(wire.failure(turn.text), turn)
        elif body.get("stream") or wire.streams:
            self._stream(wire.stream(turn, body), turn)
        else:
            self._json(wire.whole(turn, body), turn)

    def _json(self, value: Any, turn: Turn | None = None) -> None:
        self._whole(json.dumps(value).encode(), turn or Turn())

    def _whole(self, data: bytes, turn: Turn) -> None:
        self._head(turn, {"Content-Type": "application/json", "Content-Length": str(len(data))})
        if self.command != "HEAD":
            self.wfile.write(data[: len(data) // 2] if turn.cut or turn.stuck else data)
        self._end(turn)

    def _stream(self, frames: Sequence[str], turn: Turn) -> None:
        self._head(turn, {"Content-Type": "text/event-stream", "Connection": "close"})
        self.close_connection = True
        # A third of the frames is before the end in every form, and after the beginning.
        some = max(1, len(frames) // 3)
        for frame in frames[:some] if turn.cut or turn.stuck else frames:
            self.wfile.write(frame.encode())
            self.wfile.flush()
        self._end(turn)

    def _head(self, turn: Turn, ours: dict[str, str]) -> None:
        given = {name.title(): value for name, value in turn.headers.items()}
        self.send_response(turn.status)
        for name, value in {**ours, **given}.items():
            self.send_header(name, value)
        self.end_headers()

    def _end(self, turn: Turn) -> None:
        if turn.stuck:
            self._quiet()
        if turn.cut:
            self.close_connection = True

    def _quiet(self) -> None:
        """Hold the connection open without a word until the server is closed."""
        self.wfile.flush()
        self.server.over.wait()
        self.close_connection = True
