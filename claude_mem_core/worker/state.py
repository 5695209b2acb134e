"""What a running worker knows of itself."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import attrs

from claude_mem_core import __version__
from claude_mem_core.paths import Paths
from claude_mem_core.worker.tv_door import TvDoor

if TYPE_CHECKING:
    from claude_mem_core.worker.sessions import Sessions
    from claude_mem_core.worker.tcp import TcpDoor


@attrs.define
class WorkerState:
    """One running worker: its clocks, counters and switches.

    Attributes:
        start_id: random, new at each start; part of every proof on TCP.
        started_ms: when it started, milliseconds since the epoch.
        last_request, last_reply: monotonic seconds of the newest of each.
        waiting: monotonic start of each unanswered request, by a number of its own.
        streams: open event streams; they count neither as waiting nor as activity.
        stopping: set once it goes down.
        restart: go down and come back.
        open_tcp: turns the TCP listener on and gives its port.
        tv: the read-only door for other machines; shut unless the settings open it.
        notes: faults worth showing in the status, newest text by topic.
    """

    paths: Paths
    token: str
    sessions: Sessions
    tcp: TcpDoor
    foreground: bool = False
    start_id: str = attrs.field(factory=lambda: secrets.token_hex(8))
    started_ms: int = attrs.field(factory=lambda: time.time_ns() // 1_000_000)
    last_request: float = attrs.field(factory=time.monotonic)
    last_reply: float = attrs.field(factory=time.monotonic)
    waiting: dict[int, float] = attrs.field(factory=dict)
    requests: int = 0
    refused: int = 0
    streams: int = 0
    ready: asyncio.Event = attrs.field(factory=asyncio.Event)
    stopping: asyncio.Event = attrs.field(factory=asyncio.Event)
    spool_hint: asyncio.Event = attrs.field(factory=asyncio.Event)
    restart: bool = False
    notes: dict[str, str] = attrs.field(factory=dict)
    spooled: dict[str, int] = attrs.field(factory=dict)
    open_tcp: Callable[[], Awaitable[int]] | None = None
    tv: TvDoor = attrs.field(factory=TvDoor)
    version: str = __version__

    @property
    def pid(self) -> int:
        return os.getpid()

    @property
    def uptime_s(self) -> int:
        return (time.time_ns() // 1_000_000 - self.started_ms) // 1000

    @property
    def oldest_waiting_s(self) -> float:
        """Age of the oldest unanswered request in seconds; 0 when none waits."""
        return time.monotonic() - min(self.waiting.values()) if self.waiting else 0.0

    def is_alone(self) -> bool:
        """Whether no more than one request waits for its answer."""
        return len(self.waiting) <= 1

    def note(self, topic: str, fault: str | None) -> None:
        """Remember what is wrong with a topic; None when it is well again."""
        if fault is None:
            self.notes.pop(topic, None)
        else:
            self.notes[topic] = fault[:300]

    def begin(self) -> int:
        """A request came in; returns its number."""
        self.requests += 1
        self.last_request = time.monotonic()
        self.waiting[self.requests] = self.last_request
        return self.requests

    def end(self, number: int) -> None:
        """It was answered, or its client has gone."""
        self.waiting.pop(number, None)
        self.last_reply = time.monotonic()

    def stop(self, *, restart: bool = False) -> None:
        """Go down in good order."""
        self.restart = self.restart or restart
        self.stopping.set()
