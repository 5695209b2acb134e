"""`mem` in a process of its own, forked from one that has loaded it (`mem_server`)."""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import attrs

ROOT = Path(__file__).parent.parent
# What an interpreter reads as it starts. With other values a real start is due.
AT_START = ("PYTHON", "LC_", "LANG", "TZ", "MALLOC_")
HARMLESS = {"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}


def run_mem(
    *args: str, env: Mapping[str, str], cwd: Path | str, stdin: str = "", timeout: float = 90
) -> subprocess.CompletedProcess[str]:
    """Run `mem` with exactly this environment; the exit code is not checked."""
    server = _server()
    if server is not None and _at_start(env) == server.at_start:
        return server.run(args, dict(env), str(cwd), stdin, timeout)
    return subprocess.run(
        [sys.executable, "-m", "claude_mem_core.cli.main", *args], env=dict(env), cwd=cwd,
        input=stdin, capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip


def _at_start(env: Mapping[str, str]) -> dict[str, str]:
    found = {name: value for name, value in env.items() if name.startswith(AT_START)}
    utf8 = {name for name, value in found.items() if value.upper().endswith("UTF-8")}
    return {name: found[name] for name in found.keys() - utf8 - HARMLESS}


@attrs.define
class Server:
    """The process that forks."""

    link: socket.socket
    process: subprocess.Popen[bytes]
    at_start: dict[str, str]

    def run(
        self, args: tuple[str, ...], env: dict[str, str], cwd: str, stdin: str, timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """One command, to its end."""
        request = json.dumps({"args": args, "env": env, "cwd": cwd}).encode()
        with _file(stdin) as given, _file() as out, _file() as err:
            streams = [file.fileno() for file in (given, out, err)]
            socket.send_fds(self.link, [request], streams)
            code = self._ended(timeout)
            return subprocess.CompletedProcess(list(args), code, _text(out), _text(err))

    def _ended(self, timeout: float) -> int:
        pid = int(self._line(30))
        try:
            return int(self._line(timeout))
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            self._line(30)
            raise

    def _line(self, timeout: float) -> bytes:
        self.link.settimeout(timeout)
        line = b""
        while not line.endswith(b"\n"):
            got = self.link.recv(1)
            assert got, "the process that forks for `mem` has ended"
            line += got
        return line

    def close(self) -> None:
        self.link.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(5)


def _file(text: str = "") -> IO[bytes]:
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the caller
    file.write(text.encode("utf-8", "surrogateescape"))
    file.seek(0)
    return file


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8").replace("\r\n", "\n")


_started: list[Any] = []


def _server() -> Server | None:
    """This process's own, started at the first use; None where nothing can be forked."""
    if not hasattr(os, "fork"):
        return None
    if not _started or _started[0] != os.getpid():
        _started[:] = [os.getpid(), _start()]
    return _started[1]  # type: ignore[no-any-return]


def _start() -> Server:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.mem_server", str(theirs.fileno())], cwd=ROOT,
        pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
    )  # fmt: skip
    theirs.close()
    server = Server(ours, process, _at_start(os.environ))
    atexit.register(server.close)
    return server
