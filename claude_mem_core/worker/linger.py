"""Closing a connection whose client is still sending, without losing the answer to it."""

from __future__ import annotations

import asyncio
from typing import Any

LINGER_S = 2.0
LINGER_BYTES = 4 << 20


class Lingering:
    """A transport that reads what is left before it closes.

    A socket closed with unread data is reset, and a reset may take away the answer that
    the client has not read yet (RFC 9112, section 9.6). So our side is ended first, and
    the rest is read and thrown away: for `LINGER_S` seconds or `LINGER_BYTES` at most.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._timer: asyncio.TimerHandle | None = None
        self._left = LINGER_BYTES
        self.is_sending = False  # whether the client is in the middle of a request

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        return self._timer is not None or self._transport.is_closing()

    def close(self) -> None:
        """End our side now; the whole connection as soon as the client is through."""
        if self.is_closing():
            return
        if not self.is_sending or not self._transport.can_write_eof():
            self._transport.close()
            return
        self._timer = asyncio.get_running_loop().call_later(LINGER_S, self._transport.close)
        self._transport.write_eof()
        self._transport.resume_reading()

    def discard(self, data: bytes) -> bool:
        """Whether `data` came too late to be read."""
        if self._timer is None:
            return False
        self._left -= len(data)
        if self._left < 0:
            self._transport.close()
        return True

    def lost(self) -> None:
        """The connection is gone: nothing is waited for."""
        if self._timer is not None:
            self._timer.cancel()
