"""One event to the worker and its answer back, over a Unix socket. Part of the hot path."""

from __future__ import annotations

import _socket
import sys
from posix import geteuid
from time import monotonic, sleep

TYPE_CHECKING = False  # as in client.py
if TYPE_CHECKING:
    from claude_mem_core.hook.client import Call, Reply

LONGEST_ANSWER = 4 * 1024 * 1024
LONGEST_PATH = 100  # bytes of a socket's path
GREETING_S = 0.25
STALE_S = 1.0  # after which a connection that has said nothing is not used
SAFE = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~/"


def greet(call: Call) -> None:
    """Connect before stdin is read: the worker prepares itself in the meantime."""
    try:
        call.link = connect(call, GREETING_S)
    except (OSError, ValueError):
        call.link = None
    call.greeted = monotonic()


def exchange(call: Call, seconds: float) -> Reply:
    """Send the event; return what the worker has to say to the host.

    Raises:
        OSError: no worker of ours answers in time, or it does not take the event.
    """
    seconds += min(len(call.body) / 8e6, 3.0)
    end = monotonic() + seconds
    link, call.link = call.link, None
    if link is None or monotonic() - call.greeted > STALE_S:
        link = connect(call, seconds)
    link.settimeout(seconds)
    link.sendall(request(call) + call.body)
    return answer(call, link, end)


def connect(call: Call, seconds: float) -> _socket.socket:
    """A connection to the worker's socket, once its owner is known to be ours."""
    call.reached = False
    path = call.data + "/w.sock"
    if len(path.encode("utf-8", "surrogateescape")) > LONGEST_PATH:
        with open(call.data + "/w.sock.path", "rb") as file:
            path = file.read(200).decode("utf-8", "surrogateescape").strip()
    link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    end = monotonic() + seconds
    while True:
        try:
            link.settimeout(seconds)
            link.connect(path)
            break
        except BlockingIOError:  # as many hooks wait as the socket holds
            if monotonic() > end:
                raise
            sleep(0.005)
    if not is_ours(link):
        raise OSError("the socket belongs to someone else")
    call.reached = True
    return link


def is_ours(link: _socket.socket) -> bool:
    """Whether the process at the other end runs as our user."""
    if sys.platform == "linux":
        raw = link.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    elif sys.platform == "darwin":
        raw = link.getsockopt(0, 1, 76)  # SOL_LOCAL, LOCAL_PEERCRED: version, uid, ...
    else:
        return True
    return int.from_bytes(raw[4:8], sys.byteorder) == geteuid()


def request(call: Call, proof: bytes = b"") -> bytes:
    """The head of the request."""
    env = b";".join([name.encode() + b"=" + quoted(call.env[name]) for name in call.env])
    return (
        b"POST /hook HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        b"Content-Type: application/json\r\n"
        b"x-mem-host: " + quoted(call.host.encode("utf-8", "replace")[:100]) + b"\r\n"
        b"x-mem-event: " + quoted(call.event.encode("utf-8", "replace")[:200]) + b"\r\n"
        b"x-mem-key: " + call.key.encode() + b"\r\n"
        b"x-mem-at: %d\r\nx-mem-size: %d\r\n"
        % (call.at_ms, call.size)
        + (b"x-mem-env: " + env + b"\r\n" if env else b"")
        + proof
        + b"Content-Length: %d\r\n\r\n" % len(call.body)
    )


def quoted(raw: bytes) -> bytes:
    """Percent-encoded, so that no value can end its header."""
    if raw.isalnum():
        return raw
    return b"".join([b"%c" % byte if byte in SAFE else b"%%%02X" % byte for byte in raw])


def answer(call: Call, link: _socket.socket, end: float) -> Reply:
    """Read one HTTP answer with a Content-Length."""
    data = b""
    start = need = 0
    while not start or len(data) < need:
        left = end - monotonic()
        if left <= 0:
            raise TimeoutError("the worker did not answer in time")
        link.settimeout(left)
        block = link.recv(65536)
        if not block:
            raise OSError("the worker closed the connection")
        data += block
        if not start and b"\r\n\r\n" in data:
            start = data.index(b"\r\n\r\n") + 4
            head = data[:start].lower()
            need = start + number(head, b"content-length")
    if head[9:12] != b"200" or need - start > LONGEST_ANSWER:
        call.told = data[start : start + number(head, b"x-mem-told")]
        raise OSError("the worker answered " + head[9:12].decode("ascii", "replace"))
    said = max(start, need - number(head, b"x-mem-stderr"))
    return data[start:said], data[said:need], number(head, b"x-mem-exit") & 255


def number(head: bytes, name: bytes) -> int:
    """The number in a header, 0 when it is not there."""
    at = head.find(b"\r\n" + name + b":")
    if at < 0:
        return 0
    return int(head[at + len(name) + 3 : head.index(b"\r\n", at + 2)])
