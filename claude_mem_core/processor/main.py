"""The process: `python -I -m claude_mem_core.processor.main --data-dir D`, socket at fd 0.

It lives as long as the worker holds the other end. A thread of its own waits for that
end to close, so that a provider that hangs can't keep the process alive.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from claude_mem_core import hardening
from claude_mem_core.errors import Failure, InvalidInput, ProviderError
from claude_mem_core.paths import Paths
from claude_mem_core.processor import wire

ONLY_S = 20.0  # the process of a worker that was killed is on its way out


def main(argv: list[str]) -> int:
    """Serve until the worker goes; the exit code."""
    if len(argv) != 2 or argv[0] != "--data-dir":
        raise SystemExit("usage: processor.main --data-dir DIR, with a socket as input")
    hardening.protect()
    hardening.forbid_tracing()
    paths = Paths(Path(argv[1]))
    link = socket.socket(fileno=os.dup(0))
    os.close(0)
    os.open(os.devnull, os.O_RDONLY)
    return _only(paths, link)


def _only(paths: Paths, link: socket.socket) -> int:
    """Never two at once: one waits until the other is gone."""
    from claude_mem_core.files import locked

    with locked(paths.data / "processor.lock", ONLY_S):
        asyncio.run(serve(paths, link))
    return 0


async def serve(paths: Paths, link: socket.socket) -> None:
    """Answer requests, several at once, until the other end closes."""
    from claude_mem_core.processor.models import Models

    models = Models(paths)
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[wire.Said] = asyncio.Queue()

    def came(said: wire.Said) -> None:
        loop.call_soon_threadsafe(waiting.put_nowait, said)

    threading.Thread(target=listen, args=(link, came), daemon=True).start()
    # Heard from: what hangs from here on is a provider, not a slow start.
    await asyncio.to_thread(_send, link, wire.framed({"id": wire.PING}))
    tasks: set[asyncio.Task[None]] = set()
    while True:
        task = asyncio.create_task(_answer(models, link, await waiting.get()))
        tasks.add(task)
        task.add_done_callback(tasks.discard)


async def _answer(models: object, link: socket.socket, said: wire.Said) -> None:
    from claude_mem_core.processor.models import Models

    assert isinstance(models, Models)
    if said["id"] == wire.PING:
        await asyncio.to_thread(_send, link, wire.framed(said))
        return
    try:
        answer = wire.reply_out(await models.reply(wire.asked_in(said)))
    except ProviderError as error:
        answer = wire.error_out(error)
    except (KeyError, TypeError, ValueError) as error:
        text = f"the request can't be read: {type(error).__name__}"
        answer = wire.error_out(ProviderError(Failure.BAD_REQUEST, text))
    await asyncio.to_thread(_send, link, wire.framed({"id": said["id"], **answer}))


_sending = threading.Lock()


def _send(link: socket.socket, data: bytes) -> None:
    try:
        with _sending:
            link.sendall(data)
    except OSError:  # the worker is gone, and so are we in a moment
        return


def listen(
    link: socket.socket,
    came: Callable[[wire.Said], None],
    leave: Callable[[int], None] = os._exit,
) -> None:
    """Hand on each message; leave the process at once when no more can come."""
    import json

    try:
        while True:
            size = wire.length(_exactly(link, wire.LENGTH.size))
            came(json.loads(_exactly(link, size)))
    except (OSError, EOFError, ValueError, InvalidInput):
        leave(0)


def _exactly(link: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = link.recv(min(size - len(data), 1 << 20))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
