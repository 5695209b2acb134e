"""The worker's end: starts the process, asks it, and lets it go.

A request whose process died is sent again to a new one, once. A process whose event loop
does not answer hangs, in a provider that blocks it, and is killed; so is one that gives no
answer long after the request's own deadline.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import subprocess
import sys
from contextlib import suppress

import attrs

from claude_mem_core.errors import Failure, InvalidInput, ProviderError
from claude_mem_core.paths import Paths
from claude_mem_core.processor import wire
from claude_mem_core.types import Reply

log = logging.getLogger(__name__)

IDLE_S = 60.0
GRACE_S = 20.0  # beside the request's own seconds: starting, importing an SDK
PING_S, HUNG_S = 2.0, 20.0
START_S = 60.0  # until its first word; a loaded machine is slow to start a process
END_S = 5.0
MODULE = "claude_mem_core.processor.main"
PING = wire.PING


class Lost(Exception):
    """The process ended before it answered."""


@attrs.define(eq=False)
class Link:
    """One process and the requests that it has in hand."""

    process: asyncio.subprocess.Process
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    asked: dict[int, asyncio.Future[wire.Said]] = attrs.field(factory=dict)
    over: bool = False
    hung: bool = False
    spoke: bool = False
    heard: float = 0.0
    reading: asyncio.Task[None] | None = None
    watching: asyncio.Task[None] | None = None

    async def ask(self, number: int, said: wire.Said, seconds: float) -> wire.Said:
        """Send a request and wait for its answer.

        Raises:
            Lost: the process ended.
            TimeoutError: it did not answer.
        """
        future: asyncio.Future[wire.Said] = asyncio.get_running_loop().create_future()
        self.asked[number] = future
        try:
            self.writer.write(wire.framed({"id": number, **said}))
            await self.writer.drain()
            async with asyncio.timeout(seconds):
                return await future
        except OSError as error:
            raise Lost from error
        finally:
            self.asked.pop(number, None)

    async def watch(self, hung_s: float) -> None:
        """Ask again and again whether it is alive, while it has something in hand."""
        loop = asyncio.get_running_loop()
        self.heard = loop.time()
        while not self.over:
            await asyncio.sleep(min(PING_S, hung_s / 4))
            if not self.asked:
                self.heard = loop.time()
            elif loop.time() - self.heard > (hung_s if self.spoke else max(START_S, hung_s)):
                self.hung = True
                self.kill()
            else:
                with suppress(OSError):
                    self.writer.write(wire.framed({"id": PING}))

    async def read(self) -> None:
        """Hand out answers until the process ends."""
        with suppress(OSError, EOFError, InvalidInput, ValueError):
            while True:
                size = wire.length(await self.reader.readexactly(wire.LENGTH.size))
                said = json.loads(await self.reader.readexactly(size))
                self.heard, self.spoke = asyncio.get_running_loop().time(), True
                future = self.asked.get(said.pop("id"))
                if future is not None and not future.done():
                    future.set_result(said)
        self.over = True
        self.kill()
        for future in self.asked.values():
            if not future.done():
                future.set_exception(Lost())

    def kill(self) -> None:
        """End the process as it is."""
        self.over = True
        with suppress(ProcessLookupError):
            self.process.kill()

    async def aclose(self) -> None:
        """Let the process go; it ends when our end is closed."""
        self.over = True
        self.writer.close()
        try:
            async with asyncio.timeout(END_S):
                await self.process.wait()
        except TimeoutError:
            self.kill()
            await self.process.wait()
        for task in (self.reading, self.watching):
            if task is not None:
                await task


class Processor:
    """Asks providers through a process of their own; there is never more than one."""

    def __init__(
        self, paths: Paths, *, idle_s: float = IDLE_S, hung_s: float = HUNG_S,
        python: str = sys.executable,
    ) -> None:  # fmt: skip
        self._paths = paths
        self._idle_s = idle_s
        self._hung_s = hung_s
        self._python = python
        self._link: Link | None = None
        self._starting = asyncio.Lock()
        self._number = 0
        self._rest: asyncio.TimerHandle | None = None
        self._letting_go: set[asyncio.Task[None]] = set()

    @property
    def pid(self) -> int | None:
        """Of the process that runs, if one does."""
        return self._link.process.pid if self._link and not self._link.over else None

    async def ask(self, asked: wire.Asked) -> Reply:
        """Ask a provider.

        Raises:
            ProviderError: it gave no usable reply, or its process ended twice.
        """
        said = wire.asked_out(asked)
        for _ in range(2):
            with suppress(Lost):
                return wire.reply_in(await self._asked(said, asked.seconds + GRACE_S))
            log.warning("the processor ended while it worked: the request is sent again")
        text = f"asking {asked.provider} ended its process twice"
        raise ProviderError(Failure.OUTAGE, text, provider=asked.provider)

    async def _asked(self, said: wire.Said, seconds: float) -> wire.Said:
        self._awake()
        link = await self._linked()
        self._number += 1
        try:
            return await link.ask(self._number, said, seconds)
        except TimeoutError:
            link.kill()
        except Lost:
            if not link.hung:
                raise
        finally:
            self._rest_later()
        log.warning("the processor hung, with provider %s: it is ended", said["provider"])
        text = f"{said['provider']} gave no answer and hung"
        return wire.error_out(ProviderError(Failure.TIMEOUT, text))

    async def _linked(self) -> Link:
        async with self._starting:
            if self._link is None or self._link.over:
                if self._link is not None:
                    await self._link.aclose()
                self._link = await started(self._paths, self._python, self._hung_s)
            return self._link

    def _awake(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None

    def _rest_later(self) -> None:
        self._awake()
        loop = asyncio.get_running_loop()
        self._rest = loop.call_later(self._idle_s, self._let_go)

    def _let_go(self) -> None:
        link = self._link
        if link is None or link.asked or self._starting.locked():
            return
        self._link = None
        task = asyncio.create_task(link.aclose())
        self._letting_go.add(task)
        task.add_done_callback(self._letting_go.discard)

    async def aclose(self) -> None:
        """End the process, if one runs."""
        self._awake()
        link, self._link = self._link, None
        if link is not None:
            await link.aclose()
        for task in tuple(self._letting_go):
            await task


async def started(paths: Paths, python: str, hung_s: float) -> Link:
    """Start the process, with one end of a socket pair as its standard input."""
    ours, theirs = socket.socketpair()
    command = [python, "-I", "-m", MODULE, "--data-dir", os.fspath(paths.data)]
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd="/", start_new_session=True,
        )  # fmt: skip
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    reader, writer = await asyncio.open_connection(sock=ours)
    link = Link(process, reader, writer)
    link.reading = asyncio.create_task(link.read())
    link.watching = asyncio.create_task(link.watch(hung_s))
    log.info("processor started, pid %s", process.pid)
    return link
