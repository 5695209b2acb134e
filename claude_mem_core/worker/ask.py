"""One question to the worker over its socket, with nothing but the socket module.

Used by the command line, and by a starting worker that finds another one.
"""

from __future__ import annotations

import json
import os
import socket
import time
from typing import Any

import attrs

from claude_mem_core.errors import WorkerError
from claude_mem_core.paths import Paths
from claude_mem_core.worker.sockets import is_ours, socket_path

MOST = 256 * 1024 * 1024


class NotThere(WorkerError):
    """Nobody listens at the socket."""


class Mute(WorkerError):
    """Somebody listens, but gave no whole answer in time."""


@attrs.frozen
class Raw:
    """An HTTP answer."""

    status: int
    body: bytes

    @property
    def json(self) -> Any:
        """The body as a JSON value; None when it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


def ask(
    paths: Paths, method: str, target: str, body: bytes | None = None, timeout: float = 10.0
) -> Raw:
    """Send one request and return the answer. `timeout` in seconds, for all of it.

    Raises:
        NotThere: no worker listens.
        Mute: it did not answer in time.
        WorkerError: the other end is another user's process.
    """
    end = time.monotonic() + timeout
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        _connect(connection, paths, timeout)
        try:
            connection.sendall(_request(method, target, body))
            return _answer(_read(connection, end))
        except (OSError, ValueError) as error:
            raise Mute(f"the worker gave no answer within {timeout:g} s") from error


def _connect(connection: socket.socket, paths: Paths, timeout: float) -> None:
    connection.settimeout(timeout)
    where = socket_path(paths)
    try:
        connection.connect(os.fspath(where))
    except TimeoutError as error:
        raise Mute(f"the worker gave no answer within {timeout:g} s") from error
    except OSError as error:
        raise NotThere("no worker is running; start it with `mem start`") from error
    if not is_ours(connection):
        raise WorkerError(f"{where} is held by another user's process: nothing was sent")


def _request(method: str, target: str, body: bytes | None) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", "Connection: close"]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + (body or b"")


def _read(connection: socket.socket, end: float) -> bytes:
    parts: list[bytes] = []
    size = 0
    while size < MOST:
        connection.settimeout(max(0.001, end - time.monotonic()))
        part = connection.recv(262_144)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _answer(data: bytes) -> Raw:
    head, found, body = data.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    if not found or not lines[0].startswith(b"HTTP/1.1 "):
        raise ValueError("no answer")
    headers = dict(_header(line) for line in lines[1:])
    if b"chunked" in headers.get(b"transfer-encoding", b""):
        body = _unchunked(body)
    elif len(body) < int(headers.get(b"content-length", b"0")):
        raise ValueError("half an answer")
    return Raw(int(lines[0].split()[1]), body)


def _header(line: bytes) -> tuple[bytes, bytes]:
    name, _, value = line.partition(b":")
    return name.strip().lower(), value.strip()


def _unchunked(data: bytes) -> bytes:
    parts: list[bytes] = []
    while data:
        size, _, rest = data.partition(b"\r\n")
        length = int(size, 16)
        if not length:
            return b"".join(parts)
        parts.append(rest[:length])
        data = rest[length + 2 :]
    raise ValueError("half an answer")
