"""Who is refused in the middle of his request still gets the whole answer."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterable, Iterator

import pytest

from claude_mem_core.testing.worker import LiveWorker, running
from claude_mem_core.worker.linger import LINGER_BYTES
from claude_mem_core.worker.tcp import TcpDoor

PART = b"x" * 65_536


@pytest.fixture(scope="module")
def live() -> Iterator[LiveWorker]:
    with running(tcp=True) as worker:
        yield worker


def begin(live: LiveWorker, head: bytes) -> socket.socket:
    """A connection on which the head was sent and the answer has come."""
    link = socket.create_connection(("127.0.0.1", live.port), timeout=20)
    link.sendall(head)
    assert select.select([link], [], [], 20)[0]
    return link


def everything(link: socket.socket) -> bytes:
    got = b""
    while part := link.recv(65_536):
        got += part
    return got


HEAD = b"POST /api/memory/save HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: %d\r\n\r\n"


@pytest.mark.parametrize("head", [HEAD, HEAD.replace(b"POST", b"DANCE")], ids=["401", "400"])
def test_a_refused_sender_reads_the_answer(live: LiveWorker, head: bytes) -> None:
    with begin(live, head % (live.port, 16 * len(PART))) as link:
        for _ in range(16):
            link.sendall(PART)  # a reset connection would raise here
        answer = everything(link)
    assert answer.split()[1] in {b"400", b"401"}
    assert answer.endswith(b"}")


def is_cut_off(link: socket.socket, parts: Iterable[bytes]) -> bool:
    """Whether the other side ends a connection on which somebody goes on sending."""
    try:
        for part in parts:
            link.sendall(part)
            select.select([], [], [], 0.05 if len(part) == 1 else 0)
    except (ConnectionError, TimeoutError):
        return True
    return False


def test_nobody_may_send_for_ever(live: LiveWorker) -> None:
    count = 64 * LINGER_BYTES // len(PART)
    with begin(live, HEAD % (live.port, 64 * LINGER_BYTES)) as link:
        assert is_cut_off(link, [PART] * count)


def test_nobody_may_wait_for_ever(live: LiveWorker) -> None:
    with begin(live, HEAD % (live.port, 10_000)) as link:
        assert everything(link).endswith(b"}")
        assert is_cut_off(link, [b"x"] * 1_000)


def test_answers_on_tcp_are_sent_at_once() -> None:
    """asyncio sets TCP_NODELAY only on connections of a socket that names its protocol."""
    with TcpDoor().listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP
