"""The hook on Windows: no Unix sockets there. UNTESTED: written without such a machine.

The worker listens on loopback TCP. It proves itself first, with an HMAC over our nonce
and its port, made with the install token; then our request carries a proof of its own.
The token itself never travels.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from hashlib import sha256
from hmac import compare_digest, new
from http.client import HTTPResponse
from urllib.parse import quote

TYPE_CHECKING = False  # as in client.py
if TYPE_CHECKING:
    from typing import Any

    from claude_mem_core.hook.client import Call, Load, Reply

EMPTY_S = 5.0
QUIET_S = 0.05
SILENCE_S = 4.0
LIMIT = 8 * 1024 * 1024
FAILED_S = 60
DETACHED = 0x00000008 | 0x00000200 | 0x08000000  # detached, own group, no window


def read_input() -> tuple[bytes, int]:
    """Stdin; a thread reads, because pipes can't be waited for."""
    blocks: list[bytes] = []
    ended = threading.Event()
    threading.Thread(target=_read_all, args=(blocks, ended), daemon=True).start()
    quiet_since, seen = time.monotonic(), 0
    while not ended.wait(QUIET_S):
        if len(blocks) != seen:
            quiet_since, seen = time.monotonic(), len(blocks)
        silence = time.monotonic() - quiet_since
        if silence > (SILENCE_S if seen else EMPTY_S) or (seen and _complete(blocks)):
            break
    body = b"".join(list(blocks))
    return (body, len(body)) if len(body) <= LIMIT else (b"", len(body))


def _read_all(blocks: list[bytes], ended: threading.Event) -> None:
    size = 0
    try:
        while size <= LIMIT and (block := os.read(0, 65536)):
            blocks.append(block)
            size += len(block)
    except OSError:
        pass
    ended.set()


def _complete(blocks: list[bytes]) -> bool:
    try:
        json.loads(b"".join(list(blocks)))
    except (ValueError, RecursionError):
        return False
    return True


def greet(call: Call) -> None:
    """Nothing to prepare: the proof needs the whole event."""


def exchange(call: Call, seconds: float) -> Reply:
    """One exchange over TCP, after the worker has proved that it is ours.

    Raises:
        OSError: no worker of ours answers in time.
    """
    port = int(_file(call.data, ".worker.port"))
    token = _file(call.data, "token")
    end = time.monotonic() + seconds
    start_id = _proved(port, token, end)
    call.reached = True
    proof = _proof(token, start_id, call.body)
    with _link(port, end) as link:
        link.sendall(_request(call, port, proof) + call.body)
        return _answer(call, link)


def ask(data: str, target: str, body: bytes, seconds: float) -> tuple[int, bytes]:
    """Status and body of the answer to one POST with a JSON body.

    Raises:
        OSError: no worker of ours answers in time.
    """
    port, token = int(_file(data, ".worker.port")), _file(data, "token")
    end = time.monotonic() + seconds
    proof = _proof(token, _proved(port, token, end), body, target)
    head = (
        f"POST {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    )
    with _link(port, end) as link:
        link.sendall(head.encode("ascii") + proof + b"\r\n" + body)
        answer = HTTPResponse(link)
        answer.begin()
        return answer.status, answer.read()


def _request(call: Call, port: int, proof: bytes) -> bytes:
    env = ";".join(f"{name}={quote(value)}" for name, value in call.env.items())
    lines = [
        f"POST /hook HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close",
        f"Content-Type: application/json\r\nContent-Length: {len(call.body)}",
        f"x-mem-host: {quote(call.host[:100])}\r\nx-mem-event: {quote(call.event[:200])}",
        f"x-mem-key: {call.key}\r\nx-mem-at: {call.at_ms}\r\nx-mem-size: {call.size}",
        f"x-mem-env: {env}\r\n",
    ]
    return "\r\n".join(lines).encode("ascii") + proof + b"\r\n"


def _answer(call: Call, link: socket.socket) -> Reply:
    answer = HTTPResponse(link)
    answer.begin()
    data = answer.read()
    if answer.status != 200:
        call.told = data[: int(answer.getheader("x-mem-told") or 0)]
        raise OSError(f"the worker answered {answer.status}")
    said = len(data) - int(answer.getheader("x-mem-stderr") or 0)
    return data[:said], data[said:], int(answer.getheader("x-mem-exit") or 0) & 255


def _file(data: str, name: str) -> str:
    with open(os.path.join(data, name), "rb") as file:
        return file.read(200).decode("ascii").strip()


def _link(port: int, end: float) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), max(0.01, end - time.monotonic()))


def _mac(token: str, *parts: str) -> str:
    return new(token.encode(), "|".join(parts).encode(), sha256).hexdigest()


def _proved(port: int, token: str, end: float) -> str:
    """The worker's start id, once it has shown that it knows the token."""
    nonce = os.urandom(16).hex()
    with _link(port, end) as link:
        head = f"GET /prove?n={nonce} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
        link.sendall(head.encode())
        data = b""
        while block := link.recv(65536):
            data += block
    said = json.loads(data.partition(b"\r\n\r\n")[2])
    start_id = str(said["start_id"])
    if not compare_digest(str(said["proof"]), _mac(token, "srv", nonce, str(port), start_id)):
        raise OSError("who listens at the port does not know our token")
    return start_id


def _proof(token: str, start_id: str, body: bytes, target: str = "/hook") -> bytes:
    nonce = f"{int(time.time())}-{os.urandom(16).hex()}"
    digest = sha256(body).hexdigest()
    mac = _mac(token, "cli", nonce, start_id, "POST", target, digest)
    return f"Authorization: Mem r={nonce}, b={digest}, m={mac}\r\n".encode()


def take(call: Call, fault: Exception, exchange: Any, load: Load) -> Reply:
    """Keep the event, start the worker; nobody waits.

    Raises:
        OSError: the event can't be kept.
    """
    policy = load("policy")
    call.cwd = os.getcwd()
    dropped, body = policy.judge(call, load)
    _keep(call, dropped, body)
    if not call.reached and policy.autostart(call.data):
        _start(call.data)
    return call.told, b"", 0


def _keep(call: Call, dropped: str | None, body: bytes) -> None:
    folder = os.path.join(call.data, "spool")
    os.makedirs(folder, exist_ok=True)
    head = {
        "v": 1,
        "host": call.host,
        "event": call.event,
        "env": {name: value.decode("utf-8", "replace") for name, value in call.env.items()},
        "at_ms": call.at_ms,
        "size": len(body),
        "dropped": dropped,
        "length": len(body),
        "key": call.key,
    }
    name = os.path.join(folder, call.key)
    with open(name + ".tmp", "xb") as file:
        file.write(json.dumps(head).encode("ascii") + b"\n" + body)
        file.flush()
        os.fsync(file.fileno())
    os.rename(name + ".tmp", name + ".ev")


def _start(data: str) -> None:
    """Start the worker, at most once a minute."""
    stamp = os.path.join(data, "starting")
    try:
        if time.time() - os.stat(stamp).st_mtime < FAILED_S:
            return
    except OSError:
        pass
    with open(stamp, "wb"):
        os.utime(stamp)
    with open(os.path.join(data, "worker.argv"), "rb") as file:
        count, *words = file.read(65536).decode("utf-8").split("\0")
    argv, pairs = words[: int(count)], words[int(count) :]
    nothing = subprocess.DEVNULL
    subprocess.Popen(
        argv,
        env=dict(pair.split("=", 1) for pair in pairs if "=" in pair),
        cwd=data,
        creationflags=DETACHED if sys.platform == "win32" else 0,
        close_fds=True,
        stdin=nothing,
        stdout=nothing,
        stderr=nothing,
    )
