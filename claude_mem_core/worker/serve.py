"""The running worker: services, server and the small tasks beside them."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import attrs

from claude_mem_core import edge, hardening
from claude_mem_core.errors import MemError, WorkerError
from claude_mem_core.files.workfolder import sweep_folders
from claude_mem_core.forgetting import retain
from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.services import Services, open_services
from claude_mem_core.worker import chores, logs, notice, tcp
from claude_mem_core.worker.auth import install_token
from claude_mem_core.worker.front import Front
from claude_mem_core.worker.server import WorkerServer
from claude_mem_core.worker.sessions import Sessions
from claude_mem_core.worker.state import WorkerState
from claude_mem_core.worker.tv_door import TvDoor

if TYPE_CHECKING:
    from claude_mem_core.worker.main import Options

log = logging.getLogger(__name__)


def serve(
    options: Options, paths: Paths, listener: socket.socket, start_id: str
) -> Options | None:
    """Serve until stopped; how to come back, or None when the worker shall not.

    Raises:
        MemError: the store or the settings don't let it start.
    """
    state = WorkerState(
        paths=paths, token=install_token(paths), sessions=Sessions(), tcp=tcp.TcpDoor(),
        foreground=options.foreground, start_id=start_id,
    )
    handler = logs.configure(paths.logs, "INFO")
    if options.foreground:
        logs.to_terminal()
    try:
        asyncio.run(_serve(options, state, listener))
    except BaseExceptionGroup as group:
        raise _first(group) from group
    finally:
        listener.close()
        handler.close()
    return _again(options, state) if state.restart else None


def _again(options: Options, state: WorkerState) -> Options:
    """A page that is open finds us at the same port."""
    if state.tcp.port is None:
        return options
    return attrs.evolve(options, tcp=True, port=state.tcp.port)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error that the person shall read out of what a task group threw."""
    ours = group.subgroup(MemError)
    error: BaseException = ours or group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _serve(options: Options, state: WorkerState, listener: socket.socket) -> None:
    _on_signals(state)
    async with open_services(state.paths, machine_env=options.foreground) as services:
        logs.set_level(str(services.settings.current()["CLAUDE_MEM_LOG_LEVEL"]))
        front = Front(state)
        server = WorkerServer(front)
        tcp_listener = _tcp(options, state, services)
        front.open(services)
        notice.take_back(state.paths)
        async with _running(server, listener):
            if tcp_listener is not None:
                await open_tcp(server, state, tcp_listener)
            await _until_stopped(server, state, services)


def _tcp(options: Options, state: WorkerState, services: Services) -> socket.socket | None:
    """The TCP listener, when it was asked for; made before anybody is told we are up."""
    settings = services.settings.current()
    host = str(settings["CLAUDE_MEM_WORKER_HOST"])
    tcp.loopback(host)
    state.tv = TvDoor.of(settings)
    origin = settings.origin("CLAUDE_MEM_WORKER_PORT")
    port = options.port or tcp.asked_for(settings, origin, tcp=options.tcp)
    return None if port is None else state.tcp.listen(host, port)


async def open_tcp(server: WorkerServer, state: WorkerState, listener: socket.socket) -> None:
    """Serve on TCP too, and leave the port where clients look for it."""
    await server.add(listener)
    chores.show_port(state)
    if state.tcp.note:
        state.note("port", state.tcp.note)
    log.info("listening on port %s", state.tcp.port)


@asynccontextmanager
async def _running(server: WorkerServer, listener: socket.socket) -> AsyncIterator[None]:
    if not server.config.loaded:
        server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    await server.startup(sockets=[listener])
    try:
        yield
    finally:
        await server.shutdown()


async def _until_stopped(server: WorkerServer, state: WorkerState, services: Services) -> None:
    log.info("worker %s started, pid %s", state.version, state.pid)
    state.open_tcp = lambda: _open_later(server, state, services)
    loops = [
        chores.keep_heartbeat(state, services),
        chores.drain_spool(state, services),
        chores.leave_when_idle(state, services),
        chores.empty_trash(services),
        retain.run(services),
        chores.fold_checkouts(services),
        chores.verify_memories(services),
        chores.watch_faults(state, services),
        chores.keep_snapshots(services),
        services.watchers.run(),
        services.sinks.run(),
        services.ends.run(),
    ]
    tasks = [asyncio.create_task(_guarded(loop)) for loop in loops]
    _settled(state, services)
    await state.stopping.wait()
    log.info("worker stops, %s requests answered", state.requests)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    chores.tell_pending(services)


async def _guarded(loop: Coroutine[Any, Any, None]) -> None:
    """A chore that breaks is logged; it must not take the worker with it."""
    try:
        await loop
    except asyncio.CancelledError:
        raise
    except Exception:
        log.exception("a chore of the worker broke")


def _settled(state: WorkerState, services: Services) -> None:
    """What can wait until requests are answered."""
    hardening.forbid_tracing()
    # What is loaded stays; collections look at what events leave behind, less often.
    gc.enable()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    if not state.foreground:
        _leave_terminal()
    state.note("hook", edge.began(state.paths))
    sweep_folders(state.paths.data)
    for outcome in services.registry.call("mem_started", settings=services.settings.current()):
        if outcome.error is not None:
            log.warning("plugin %s: %s", outcome.plugin, type(outcome.error).__name__)


def _leave_terminal() -> None:
    """Whoever started us may have gone; nothing is printed from here on."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.close(null)


async def _open_later(server: WorkerServer, state: WorkerState, services: Services) -> int:
    """Open TCP in a running worker; the port is the same until the worker ends."""
    if state.tcp.port is None:
        settings = services.settings.current()
        port = int(settings["CLAUDE_MEM_WORKER_PORT"])
        listener = state.tcp.listen(str(settings["CLAUDE_MEM_WORKER_HOST"]), port)
        await open_tcp(server, state, listener)
    chores.show_port(state)
    if state.tcp.port is None:
        raise WorkerError("no TCP port can be opened; see `mem doctor`")
    return state.tcp.port


def _on_signals(state: WorkerState) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        if sys.platform == "win32":
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(state.stop))
        else:
            loop.add_signal_handler(number, state.stop)
    if hasattr(signal, "SIGHUP"):
        with suppress(OSError, ValueError):
            signal.signal(signal.SIGHUP, signal.SIG_IGN)


