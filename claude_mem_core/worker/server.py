"""uvicorn with our protocol: the Unix socket from the start, TCP added when asked for."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn  # noqa: TID253 - this module is imported by the running worker only

from claude_mem_core.worker.protocol import Protocol

if TYPE_CHECKING:
    from claude_mem_core.worker.front import Front

KEEP_ALIVE_S = 30
GRACE_S = 5


class WorkerServer(uvicorn.Server):
    """Serves until the worker's state says stop. Signals are the worker's own business."""

    def __init__(self, front: Front) -> None:
        self.front = front
        config = uvicorn.Config(
            front,
            http=Protocol,
            ws="none",
            loop="asyncio",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=GRACE_S,
        )
        super().__init__(config)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield

    async def main_loop(self) -> None:
        """Wait for the end; there is nothing to do ten times a second."""
        await self.front.state.stopping.wait()

    async def add(self, listener: socket.socket) -> None:
        """Serve one more listening socket."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(self._protocol, sock=listener, backlog=64)
        self.servers.append(server)

    def _protocol(self) -> Protocol:
        return Protocol(self.config, self.server_state, {})
