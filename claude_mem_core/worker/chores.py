"""What a worker does beside answering: heartbeat, spool, idle exit, new version."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import apsw

import claude_mem_core
from claude_mem_core import edge, redactor
from claude_mem_core.clean import skip_pattern
from claude_mem_core.errors import MemError, StoreError
from claude_mem_core.files import write_private
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.pipeline.verifying import Verifier
from claude_mem_core.store import correct, folding, queue, snapshot
from claude_mem_core.worker import heartbeat, logs
from claude_mem_core.worker.lock import clear_place
from claude_mem_core.worker.state import WorkerState

if TYPE_CHECKING:
    from claude_mem_core.pipeline.services import Services
    from claude_mem_core.pipeline.spool import DrainResult
    from claude_mem_core.settings import Settings
    from claude_mem_core.types import Delivery, Output

log = logging.getLogger(__name__)

SPOOL_S = 5.0
VERIFY_S = 300.0
VERIFY_LEAST_S = 60.0  # a pass looks at thousands of files while hooks want an answer
TRASH_S = 3600.0
FAULTS_S = 300.0
SNAPSHOT_S = 600.0
IDLE_LEAST_S = 60
IDLE_LOOK_S = 5.0
_VERSION = re.compile(r'^__version__ = "([^"]+)"', re.MULTILINE)


async def keep_heartbeat(state: WorkerState, services: Services) -> None:
    """Every 5 s: show that the loop turns, and follow what changed outside."""
    told = False
    known = _stamp()
    place = _place_of(state)
    while True:
        if _place_of(state) != place:
            log.warning("the data directory was deleted: stopping")
            state.stop()
            return
        try:
            heartbeat.beat(state)
            known = _follow(state, services, known)
            told = False
        except (OSError, StoreError) as error:
            if not told:
                log.warning("the heartbeat can't be kept: %s", type(error).__name__)
            told = True
        await asyncio.sleep(heartbeat.EVERY_S)


def _place_of(state: WorkerState) -> tuple[int, int]:
    """Which file is the lock; zeros when there is none any more."""
    try:
        there = os.lstat(state.paths.lock)
    except FileNotFoundError:
        return (0, 0)
    return (there.st_dev, there.st_ino)


def show_port(state: WorkerState) -> None:
    """Leave the TCP port where clients look for it; also when somebody took it away."""
    if state.tcp.port is None or state.paths.port.exists():
        return
    clear_place(state.paths.port)
    write_private(state.paths.port, f"{state.tcp.port}\n".encode())


def _follow(state: WorkerState, services: Services, known: tuple[int, int]) -> tuple[int, int]:
    settings = services.settings.current()
    logs.set_level(str(settings["CLAUDE_MEM_LOG_LEVEL"]))
    rules = edge.follow(state.paths, services.registry, settings, services.fence_id)
    state.note("rules", rules)
    state.note("redaction", "; ".join(redactor.faults()) or None)
    state.note("skip pattern", "; ".join(skip_pattern.faults()) or None)
    show_port(state)
    now = _stamp()
    if now != known and settings["CLAUDE_MEM_WORKER_AUTOSTART"]:
        _renew(state)
    return now


def _package_file() -> Path:
    return Path(claude_mem_core.__file__)


def _stamp() -> tuple[int, int]:
    """Modification time and size of the package's own file; zeros when it is gone."""
    try:
        there = _package_file().stat()
    except OSError:
        return (0, 0)
    return (there.st_mtime_ns, there.st_size)


def _renew(state: WorkerState) -> None:
    """An upgrade has replaced our files: mixing old and new code must not last."""
    try:
        found = _VERSION.search(_package_file().read_text("utf-8"))
    except OSError:
        return
    if found and found[1] != state.version:
        log.info("version %s is installed, this is %s: restarting", found[1], state.version)
        state.stop(restart=True)


async def drain_spool(state: WorkerState, services: Services) -> None:
    """Take in what hooks left on disk: at once when hinted, and every 5 s."""
    from claude_mem_core.pipeline.spool import drain

    async def handle(delivery: Delivery) -> Output:
        return await services.deliverer.handle(delivery)

    while True:
        if _has_entries(state.paths.spool):
            try:
                _drained(state, services, await drain(state.paths, handle))
            except (MemError, OSError) as error:
                state.note("spool", str(error))
        with suppress(TimeoutError):
            await asyncio.wait_for(state.spool_hint.wait(), SPOOL_S)
        state.spool_hint.clear()


def _drained(state: WorkerState, services: Services, result: DrainResult) -> None:
    """Count what was taken in; many at once mean that the worker had been down."""
    state.spooled["drained"] = state.spooled.get("drained", 0) + result.taken
    waiting = f"{result.kept} events can't be taken in yet; see `mem logs`"
    state.note("spool", waiting if result.kept else None)
    if result.taken:
        state.note("store", None)
    threshold = int(services.settings.current()["CLAUDE_MEM_HOOK_FAIL_LOUD_THRESHOLD"])
    if result.taken >= threshold:
        services.answers.notices.outage += result.taken


def _has_entries(folder: Path) -> bool:
    """Whether anything lies there, a record that its hook did not finish included."""
    try:
        with os.scandir(folder) as entries:
            return any(entry.name != "rejected" for entry in entries)
    except OSError:
        return False


async def empty_trash(services: Services) -> None:
    """Every hour, and at the start: forget for good what was deleted a week ago."""
    while True:
        with suppress(StoreError):
            while await services.store.awrite(lambda conn: correct.purge(conn, now_ms())):
                await asyncio.sleep(0)
        await asyncio.sleep(TRASH_S)


async def fold_checkouts(services: Services) -> None:
    """Every hour, and at the start: submodules whose checkout is gone go with their parent."""
    while True:
        with suppress(StoreError):
            for said in await services.store.awrite(_folded):
                log.info("a checkout is gone, its repository reads its memories: %s", said)
        await asyncio.sleep(TRASH_S)


def _folded(conn: apsw.Connection) -> list[str]:
    folding.unfold(conn, now_ms())
    return folding.fold(conn, now_ms())


async def keep_snapshots(services: Services) -> None:
    """Every ten minutes: a copy of the database if one is due; old ones beyond the limits go."""
    while True:
        await asyncio.sleep(SNAPSHOT_S)
        try:
            await asyncio.to_thread(copied, services.store.path, services.settings.current())
        except (MemError, OSError) as error:
            log.warning("no copy of the database could be made: %s", error)


def copied(path: Path, settings: Settings) -> bool:
    """Make a copy if one is due, and keep to the limits; whether one was made.

    Raises:
        StoreError, OSError: it can't be made.
    """
    hours, keep = (int(settings[f"CLAUDE_MEM_SNAPSHOT_{name}"]) for name in ("HOURS", "KEEP"))
    due = bool(hours) and snapshot.is_due(path, hours * 3600, time.time())
    if due and not snapshot.has_room(path):
        raise StoreError("the disk has no room for it; make room, or see `mem db inspect`")
    if due:
        log.info("the database was copied to %s", snapshot.take(path, keep).name)
    snapshot.limit(path, keep, int(settings["CLAUDE_MEM_SNAPSHOT_MAX_MB"]) * 1_000_000)
    return due


async def watch_faults(state: WorkerState, services: Services) -> None:
    """Every five minutes: note since when what is broken, for the line at a session's start."""
    from claude_mem_core.worker import report
    from claude_mem_core.worker.routes.wellness import lasting
    from claude_mem_core.worker.spec import Call

    while True:
        await asyncio.sleep(FAULTS_S)
        with suppress(StoreError):
            found = lasting(await report.state_of(Call(services, state, {})))
            await services.answers.notices.broken.seen(found, now_ms())


async def verify_memories(services: Services) -> None:
    """After something happened, and now and then: which memories speak of what has changed."""
    verifier = Verifier(services.store, now_ms)
    with services.bus.subscribe() as notices:
        while True:
            with suppress(StoreError):
                if await asyncio.to_thread(verifier.check):
                    services.bus.publish("memory_changed", changed=[])
            await asyncio.sleep(VERIFY_LEAST_S)
            with anyio.move_on_after(VERIFY_S):
                await notices.receive()
            _drop_waiting(notices)


def _drop_waiting(notices: Any) -> None:
    with suppress(anyio.WouldBlock):
        while True:
            notices.receive_nowait()


async def leave_when_idle(state: WorkerState, services: Services) -> None:
    """Stop after `CLAUDE_MEM_IDLE_EXIT_SEC` of silence with nothing left to do."""
    while True:
        await asyncio.sleep(IDLE_LOOK_S)
        limit = idle_limit(state, services)
        if limit and await _is_idle(state, services, limit):
            log.info("nothing happened for %s s: the worker goes", limit)
            state.stop()


def idle_limit(state: WorkerState, services: Services) -> int:
    """Seconds of silence after which the worker leaves; 0 for never."""
    settings = services.settings.current()
    seconds = int(settings["CLAUDE_MEM_IDLE_EXIT_SEC"])
    if seconds <= 0 or state.foreground or not settings["CLAUDE_MEM_WORKER_AUTOSTART"]:
        return 0
    return max(seconds, IDLE_LEAST_S)


async def _is_idle(state: WorkerState, services: Services, limit: int) -> bool:
    quiet = time.monotonic() - max(state.last_request, state.last_reply) >= limit
    if not quiet or state.waiting or state.streams or services.loop.busy:
        return False
    if services.watchers.awake:  # nobody would start us when something is written
        return False
    if _has_entries(state.paths.spool):
        return False
    # What waits for a model that can't be asked now waits as well without us.
    part = queue.ALL if await services.loop.held() is None else queue.FRESH
    return not await services.store.aread(lambda conn: queue.any_waiting(conn, part))


def tell_pending(services: Services) -> None:
    """Say how much work waits; it is in the database and goes on at the next start."""
    try:
        status = services.store.read(queue.status)
    except MemError:
        return
    if status.pending or status.processing:
        count = status.pending + status.processing
        log.warning("pendingCountAtShutdownStart=%s, kept for the next start", count)
