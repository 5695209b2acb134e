"""A data directory with an installed hook, and a stand-in for the worker."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import attrs

from claude_mem_core.edge import EdgePolicy, install_hook, publish
from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths

CASES = Path(__file__).parent / "cases"
NOTHING_STARTS = [sys.executable, "-I", "-c", "raise SystemExit(3)"]


@attrs.frozen
class Ran:
    """How a hook ended. `seconds` is its wall time."""

    code: int
    out: bytes
    err: bytes
    seconds: float


@attrs.define
class HookHome:
    """A data directory and its hook."""

    paths: Paths
    argv: list[str]

    def run(
        self,
        event: str,
        stdin: bytes | Any = b"",
        *more: str,
        host: str = "claude-code",
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
    ) -> Ran:
        """Run the hook as a host does; a value for stdin is sent as JSON."""
        data = stdin if isinstance(stdin, bytes) else json.dumps(stdin).encode()
        start = time.monotonic()
        done = subprocess.run(
            [*self.argv, host, event, *more], input=data, capture_output=True,
            env=environment(env), cwd=cwd or self.paths.data, timeout=60, check=False,
        )  # fmt: skip
        return Ran(done.returncode, done.stdout, done.stderr, time.monotonic() - start)

    def records(self) -> list[tuple[dict[str, Any], bytes]]:
        """Heads and bodies of what lies in the spool, oldest first."""
        found = sorted(self.paths.spool.glob("*.ev")) if self.paths.spool.exists() else []
        parts = [path.read_bytes().partition(b"\n") for path in found]
        return [(json.loads(head), body) for head, _, body in parts]

    def record(self) -> tuple[dict[str, Any], bytes]:
        """The only record."""
        (found,) = self.records()
        return found

    def body(self) -> Any:
        """The value that the only record holds."""
        return json.loads(self.record()[1])

    def everything(self) -> bytes:
        """All bytes of all files of the data directory, but the hook's own code."""
        files = [p for p in self.paths.data.rglob("*") if p.is_file() and not p.is_symlink()]
        return b"\0".join(p.read_bytes() for p in files if self.paths.hook not in p.parents)

    def worker_is(self, argv: list[str]) -> None:
        """Let the hook start this in place of the worker."""
        words = [str(len(argv)), *argv, "PATH=/usr/bin:/bin", "LANG=C.UTF-8"]
        self.paths.worker_argv.write_bytes(b"\0".join(map(os.fsencode, words)))

    def rules(self, **given: Any) -> None:
        """Publish these rules."""
        publish(self.paths, EdgePolicy(**given))


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """A small known environment."""
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": "/nonexistent",
        **(more or {}),
    }


@contextmanager
def hook_home(worker: list[str] | None = None) -> Iterator[HookHome]:
    """A fresh one under a short path; its worker can't be started unless one is given."""
    folder = Path(tempfile.mkdtemp(prefix="mem", dir=tempfile.gettempdir()))
    try:
        paths = Paths(secure_dir(folder / "d"))
        home = HookHome(paths, install_hook(paths))
        home.worker_is(worker or NOTHING_STARTS)
        yield home
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@attrs.define
class Request:
    """What reached the stand-in."""

    headers: dict[str, str]
    body: bytes
    target: str = ""


Answering = Callable[[Request], bytes | None]


def answer(
    out: bytes = b"", err: bytes = b"", code: int = 0, status: bytes = b"200 OK"
) -> bytes:
    """An HTTP answer as the worker gives it."""
    head = b"HTTP/1.1 " + status + b"\r\ncontent-length: %d\r\n" % len(out + err)
    head += b"x-mem-exit: %d\r\n" % code + (b"x-mem-stderr: %d\r\n" % len(err) if err else b"")
    return head + b"\r\n" + out + err


class StandIn:
    """Listens at the worker's socket and answers every request in the same way.

    `answering` gives the bytes to send; None leaves the hook waiting.
    """

    def __init__(self, path: Path, answering: Answering) -> None:
        self.requests: list[Request] = []
        self._answering = answering
        self._held: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(os.fspath(path))
        self._listener.listen(256)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                link, _ = self._listener.accept()
                with suppress(OSError, ValueError):
                    self._one(link)

    def _one(self, link: socket.socket) -> None:
        link.settimeout(10)
        try:
            request = _read(link)
        except (OSError, ValueError):  # a hook that connected and then had nothing to say
            link.close()
            return
        self.requests.append(request)
        said = self._answering(request)
        if said is None:
            self._held.append(link)
            return
        try:
            link.sendall(said)
        finally:
            link.close()

    def close(self) -> None:
        """Stop listening and let go of whoever waits."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)
        for link in self._held:
            link.close()


def _read(link: socket.socket) -> Request:
    data = b""
    while b"\r\n\r\n" not in data:
        block = link.recv(65536)
        if not block:
            raise ValueError("half a request")
        data += block
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {
        n.strip().lower(): v.strip() for n, _, v in (line.partition(":") for line in lines)
    }
    while len(body) < int(headers["content-length"]):
        block = link.recv(1 << 20)
        if not block:
            raise ValueError("half a body")
        body += block
    return Request(headers, body, first.split()[1])


@contextmanager
def stand_in(home: HookHome, answering: Answering | bytes = b"") -> Iterator[StandIn]:
    """A worker that answers with these bytes, or as the function says."""
    fixed = answer(answering) if isinstance(answering, bytes) else b""
    server = StandIn(home.paths.socket, answering if callable(answering) else lambda _: fixed)
    try:
        yield server
    finally:
        server.close()
        home.paths.socket.unlink(missing_ok=True)


def case(folder: str, name: str, **values: str) -> bytes:
    """A file of a case, with its `{{NAMES}}` filled in."""
    text = (CASES / folder / name).read_text("utf-8")
    given = {"CWD": "/home/u/place", "TRANSCRIPT": "/nonexistent.jsonl", **values}
    for key, value in given.items():
        text = text.replace("{{" + key + "}}", json.dumps(value)[1:-1])
    return text.encode()


def lines(folder: str, name: str) -> list[dict[str, Any]]:
    """The JSON lines of a case's file."""
    text = (CASES / folder / name).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def alive(needle: str) -> list[int]:
    """Processes whose command line holds `needle`; zombies don't count."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if needle.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return [pid for pid in found if pid != os.getpid()]
