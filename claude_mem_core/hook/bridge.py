"""The MCP server that an agent program starts: its lines to the worker, and answers back.

It speaks no MCP itself: each line of stdin is one request to the worker's private socket,
each answer one line of stdout, and nothing else is ever printed there. So a session costs
a bare interpreter and not an SDK. A worker that is down is started. Nothing of the
environment is passed on but the project's directory. Whatever the agent program does, this
process ends with it.

    python -I -S -E -c BOOT <data>/hook/bridge.py CLIENT
"""

from __future__ import annotations

import sys
from _thread import allocate_lock, start_new_thread
from time import monotonic, sleep

if sys.platform == "win32":
    import nt as _os
else:
    import posix as _os

TYPE_CHECKING = False  # as in client.py
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

START_S = 20.0  # in which a worker that was down must answer
AGAIN_S = 0.5  # after a start that went well; whoever asks here has seen that nobody listens
ANSWER_S = 120.0
DRAIN_S = 30.0  # for answers that are due when the client closes its end
LOOK_EVERY_S = 0.02
WATCH_EVERY_S = 5.0
LONGEST = 16 * 1024 * 1024
FAILED = -32603
SAFE = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~/"


class Down(Exception):
    """No worker answers; the text says what to do."""


class Bridge:
    """One client's way to the worker of one data directory."""

    def __init__(self, folder: str, args: list[str]) -> None:
        self.data = folder[:-6]  # without `/hook/`
        self._folder = folder
        self._modules: dict[str, ModuleType] = {}
        self._printing = allocate_lock()
        self._starting = allocate_lock()
        self._due = 0
        self.reached = False  # `wire` notes here that a process of ours took the connection
        client = args[0] if args else ""
        self.target = b"/mcp?client=" + quoted(client[:60]) + b"&cwd=" + quoted(place())

    def run(self) -> None:
        """Serve until the client closes its end."""
        for line in lines():
            with self._printing:
                self._due += 1
            start_new_thread(self._serve, (line,))
        end = monotonic() + DRAIN_S
        while self._due and monotonic() < end and not is_gone():
            sleep(LOOK_EVERY_S)

    def _serve(self, line: bytes) -> None:
        try:
            said = self._answer(line)
        except Exception as fault:
            said = complaint(line, fault)
        with self._printing:
            if said:
                write(said + b"\n")
            self._due -= 1

    def _answer(self, line: bytes) -> bytes:
        """What the worker says to one message; nothing to a notification.

        Raises:
            OSError: it does not answer.
            Down: none can be started.
        """
        try:
            status, body = self._ask(line)
        except OSError:
            self._start()
            status, body = self._ask(line)
        if status not in (200, 202):
            raise Down(refusal(status, body))
        return body.strip()

    def _ask(self, line: bytes) -> tuple[int, bytes]:
        if sys.platform == "win32":
            target = self.target.decode("ascii")
            return self.load("windows").ask(self.data, target, line, ANSWER_S)  # type: ignore[no-any-return]
        link = self.load("wire").connect(self, 5.0)
        link.settimeout(ANSWER_S)
        link.sendall(request(self.target, line))
        return read(link)

    def _start(self) -> None:
        """Start the worker, once for all who wait for it."""
        with self._starting:
            if sys.platform == "win32" or self._is_up():
                return
            if not self.load("policy").autostart(self.data):
                raise Down(
                    "no worker is running, and CLAUDE_MEM_WORKER_AUTOSTART is off: `mem run`"
                )
            start = self.load("start").Start(self.data, AGAIN_S)
            end = monotonic() + START_S
            while monotonic() < end:
                child = 0 if start.is_fresh() else start.begin(apart=True)
                if self._is_up():
                    return
                if not child and start.has_failed():
                    break
                sleep(LOOK_EVERY_S)
        raise Down("the worker of the memory does not start; `mem doctor` says why")

    def _is_up(self) -> bool:
        try:
            self.load("wire").connect(self, 1.0).close()
        except OSError:
            return False
        return True

    def load(self, name: str) -> ModuleType:
        """Another file of the hook, as a module."""
        if name not in self._modules:
            path = self._folder + name + ".py"
            module = type(sys)(name)
            with open(path, "rb") as file:
                exec(compile(file.read(), path, "exec"), module.__dict__)  # noqa: S102 - ours
            self._modules[name] = module
        return self._modules[name]


def place() -> str:
    """The directory of the client's project: as Claude Code names it, else where we are."""
    name = "CLAUDE_PROJECT_DIR"
    if sys.platform == "win32":
        named = _os.environ.get(name, "")
    else:
        named = _os.environ.get(name.encode(), b"").decode("utf-8", "surrogateescape")
    try:
        return named or _os.getcwd()
    except OSError:
        return ""


def quoted(text: str) -> bytes:
    """Percent-encoded for a query."""
    raw = text.encode("utf-8", "replace")[:4000]
    return b"".join([b"%c" % byte if byte in SAFE else b"%%%02X" % byte for byte in raw])


def lines() -> Iterator[bytes]:
    """The lines of stdin as they come, blank ones left out."""
    rest = b""
    while len(rest) < LONGEST:
        try:
            block = _os.read(0, 65536)
        except BlockingIOError:
            sleep(LOOK_EVERY_S)
            continue
        except OSError:
            block = b""
        if not block:
            break
        *whole, rest = (rest + block).split(b"\n")
        yield from [line for line in whole if line.strip()]
    if rest.strip():
        yield rest


def request(target: bytes, body: bytes) -> bytes:
    """One message as an HTTP request."""
    head = (
        b"POST " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        b"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        b"Content-Length: %d\r\n\r\n" % len(body)
    )
    return head + body


def read(link: Any) -> tuple[int, bytes]:
    """Status and body of the answer; the worker closes after it.

    Raises:
        OSError: it is not whole.
    """
    parts: list[bytes] = []
    size = 0
    while size < LONGEST:
        block = link.recv(262144)
        if not block:
            break
        parts.append(block)
        size += len(block)
    link.close()
    head, found, body = b"".join(parts).partition(b"\r\n\r\n")
    if not found or head[:9] != b"HTTP/1.1 ":
        raise OSError("the worker gave no answer")
    return int(head[9:12]), body


def write(data: bytes) -> None:
    """Print; a client that has gone needs no server."""
    try:
        while data:
            data = data[_os.write(1, data) :]
    except BlockingIOError:
        sleep(LOOK_EVERY_S)
        write(data)
    except OSError:
        _os._exit(0)


def is_gone() -> bool:
    """Whether nobody reads our answers any more."""
    if sys.platform == "win32":
        return False
    from select import POLLERR, POLLHUP, poll

    watched = poll()
    watched.register(1, 0)
    return any(state & (POLLERR | POLLHUP) for _, state in watched.poll(0))


def watch(parent: int) -> None:
    """End with the process that started us, also when it leaves its pipes to others."""
    while _os.getppid() == parent:
        sleep(WATCH_EVERY_S)
    _os._exit(0)


def refusal(status: int, body: bytes) -> str:
    """What the worker said instead of an answer."""
    import json

    try:
        return str(json.loads(body)["error"])[:500]
    except (ValueError, KeyError, TypeError):
        return f"the worker answered {status}; `mem doctor` says more"


def complaint(line: bytes, fault: Exception) -> bytes:
    """An error for whoever asked; a notification gets none."""
    import json

    try:
        asked = json.loads(line)
        number = asked["id"] if isinstance(asked, dict) and "method" in asked else None
    except (ValueError, KeyError, RecursionError):
        return b""
    if number is None:
        return b""
    mute = "the worker of the memory gave no answer; `mem doctor` says why"
    text = str(fault) if isinstance(fault, Down) else mute
    error = {"code": FAILED, "message": f"claude-mem: {text}"}
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode()


def main(path: str, args: list[str]) -> None:
    """Serve, then leave at once: threads that still wait are of no use to anybody."""
    bridge = Bridge(path[:-9], args)  # without `bridge.py`
    if sys.platform != "win32" and (parent := _os.getppid()) > 1:
        start_new_thread(watch, (parent,))
    try:
        bridge.run()
    finally:
        _os._exit(0)


if __name__ == "__main__":
    main(sys.argv[0], sys.argv[1:])
