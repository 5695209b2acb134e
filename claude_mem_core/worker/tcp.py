"""The loopback TCP listener: off until somebody asks for it."""

from __future__ import annotations

import socket
import sys
from collections.abc import Mapping
from typing import Any

from claude_mem_core.errors import WorkerError

LOOPBACK = {"127.0.0.1": "127.0.0.1", "localhost": "127.0.0.1", "::1": "::1", "": "127.0.0.1"}


class TcpDoor:
    """Whether the TCP listener is on, where, and which names it answers to."""

    def __init__(self) -> None:
        self.port: int | None = None
        self.wanted: int | None = None
        self.hosts: frozenset[bytes] = frozenset()

    def listen(self, host: str, wanted: int) -> socket.socket:
        """Listen on `wanted`, or on another port when that one is taken.

        Raises:
            WorkerError: `host` is no loopback address, or no port is to be had.
        """
        address = loopback(host)
        listener = _bound(address, wanted) or _bound(address, 0)
        if listener is None:
            raise WorkerError(f"no port of {address} can be opened; see `mem doctor`")
        listener.listen(64)
        listener.setblocking(False)
        self._opened(listener.getsockname()[1], wanted)
        return listener

    def _opened(self, port: int, wanted: int) -> None:
        self.port, self.wanted = port, wanted
        names = ("127.0.0.1", "localhost", "[::1]")
        self.hosts = frozenset(f"{name}:{port}".encode() for name in names)

    @property
    def note(self) -> str:
        """What to tell when the port is not the one that was wanted; empty when it is."""
        if self.port is None or self.port == self.wanted:
            return ""
        return f"port {self.wanted} is held by another program; this worker uses {self.port}"


def loopback(host: str) -> str:
    """The address to bind.

    Raises:
        WorkerError: anything that other machines could reach.
    """
    address = LOOPBACK.get(host.strip().lower())
    if address is None:
        raise WorkerError(
            f"CLAUDE_MEM_WORKER_HOST is {host!r}: the worker answers this machine only."
            " Unset it with `mem config set CLAUDE_MEM_WORKER_HOST 127.0.0.1`"
        )
    return address


def _bound(address: str, port: int) -> socket.socket | None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # Named, because asyncio sends without delay only on what calls itself TCP: without it
    # an answer in two parts waits 40 ms for the client's acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if sys.platform == "win32":
        # Without it another process may bind over us.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
    except OSError:
        listener.close()
        return None
    return listener


def asked_for(settings: Mapping[str, Any], origin: str, *, tcp: bool) -> int | None:
    """The port to listen on at start; None for no TCP.

    `origin` says where the port setting comes from: only somebody's own choice counts.
    """
    chosen = origin != "default"
    if not (tcp or chosen or sys.platform == "win32"):
        return None
    return int(settings["CLAUDE_MEM_WORKER_PORT"])  # by default the documented one
