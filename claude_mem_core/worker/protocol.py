"""The HTTP protocol of each connection: who is at the other end, how much he may send.

uvicorn's own, with what has to be known before a request reaches the application.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import (  # noqa: TID253 - the running worker only
    HttpToolsProtocol,
    RequestResponseCycle,
)

from claude_mem_core.worker.linger import Lingering
from claude_mem_core.worker.replies import BAD_REQUEST
from claude_mem_core.worker.sockets import is_ours

if TYPE_CHECKING:
    from claude_mem_core.worker.front import Front

TCP_CONNECTIONS = 64
HEAD_S = 5.0
HEAD_BYTES = 512 * 1024  # several parameters as long as they may be, percent-encoded


async def answer_at_once(cycle: RequestResponseCycle, head: bytes, body: bytes) -> None:
    """Send a whole answer in one piece; head and body apart cost a second system call.

    `head` is the status line and the headers, each with its line end.
    """
    if cycle.flow.write_paused and not cycle.disconnected:
        await cycle.flow.drain()
    if cycle.disconnected:
        return
    cycle.response_started = cycle.response_complete = True
    cycle.message_event.set()
    end = b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n"
    cycle.transport.write(head + end + body)
    if not cycle.keep_alive:
        cycle.transport.close()
    cycle.on_response()


class Protocol(HttpToolsProtocol):
    """One connection. The socket has no limits of number; TCP has."""

    local = True
    _head_timer: asyncio.TimerHandle | None = None
    _head_bytes = 0

    @property
    def front(self) -> Front:
        return self.config.loaded_app  # type: ignore[no-any-return]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Refuse strangers and crowds before a byte is read."""
        connection = transport.get_extra_info("socket")
        self.local = connection.family == getattr(socket, "AF_UNIX", None)
        if not (is_ours(connection) if self.local else self._has_room()):
            transport.abort()
            return
        self._lingering = Lingering(transport)
        super().connection_made(self._lingering)  # type: ignore[arg-type]
        self.app_state = {"local": self.local}
        if not self.local:
            self.front.tcp_connections += 1
            self._await_head()

    def _has_room(self) -> bool:
        return self.front.tcp_connections < TCP_CONNECTIONS

    def connection_lost(self, exc: Exception | None) -> None:
        if self.transport is None:  # refused in connection_made
            return
        if not self.local:
            self.front.tcp_connections -= 1
            self._head_done()
        self._lingering.lost()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport is None or self._lingering.discard(data):
            return
        if self._head_timer is not None and self._too_long(data):
            self.send_400_response("request head too large")
            return
        super().data_received(data)

    def _too_long(self, data: bytes) -> bool:
        """Whether the head is longer than any of ours; what follows it is not counted."""
        end = data.find(b"\r\n\r\n")
        self._head_bytes += len(data) if end < 0 else end
        return self._head_bytes > HEAD_BYTES

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._lingering.is_sending = True
        if not self.local:
            self._await_head()

    def on_headers_complete(self) -> None:
        self._head_done()
        self.scope["state"]["target"] = self.url
        super().on_headers_complete()
        self.scope["state"]["cycle"] = self.cycle

    def on_message_complete(self) -> None:
        self._lingering.is_sending = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Who is refused before his body was read shall not go on sending it."""
        super().on_response_complete()
        cycle = self.cycle
        unread = cycle is not None and cycle.response_complete and cycle.more_body
        if unread and not self.local and not self.transport.is_closing():
            self.transport.close()

    def _await_head(self) -> None:
        if self._head_timer is None:
            self._head_bytes = 0
            self._head_timer = self.loop.call_later(HEAD_S, self._too_slow)

    def _head_done(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _too_slow(self) -> None:
        self._head_timer = None
        if not self.transport.is_closing():
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, with the headers that all our answers have."""
        self._head_done()
        if not self.transport.is_closing():
            self.transport.write(BAD_REQUEST)
            self.transport.close()

    def handle_websocket_upgrade(self) -> Any:
        """There are no web sockets here."""
        self.send_400_response("no upgrade")
