"""Tells listeners inside the worker what happened; a slow listener loses, never blocks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import attrs
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

BACKLOG = 256


@attrs.frozen
class Notice:
    """One thing that happened: a documented stream event name and its data."""

    type: str
    data: dict[str, Any]


class Bus:
    """Fan-out of notices to any number of listeners."""

    def __init__(self) -> None:
        self._listeners: set[MemoryObjectSendStream[Notice]] = set()
        self.lost = 0

    def publish(self, type: str, **data: Any) -> None:
        """Tell everyone; a listener whose backlog is full misses this one."""
        for listener in tuple(self._listeners):
            try:
                listener.send_nowait(Notice(type, data))
            except (anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
                self.lost += 1

    @contextmanager
    def subscribe(self) -> Iterator[MemoryObjectReceiveStream[Notice]]:
        """A stream of notices from now on, for as long as the context is open."""
        send, receive = anyio.create_memory_object_stream[Notice](BACKLOG)
        self._listeners.add(send)
        try:
            yield receive
        finally:
            self._listeners.discard(send)
            send.close()
            receive.close()

    @property
    def listeners(self) -> int:
        return len(self._listeners)


async def until(stream: MemoryObjectReceiveStream[Notice], type: str) -> AsyncIterator[Notice]:
    """Notices of one type, for tests and small waits."""
    async for notice in stream:
        if notice.type == type:
            yield notice
