"""The parts of a running worker, made once and passed on; there is no global state."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import attrs
from anyio.abc import TaskGroup

from claude_mem_core import edge
from claude_mem_core.clean import skip_pattern
from claude_mem_core.extensions import registry_of
from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.adapters import Adapters
from claude_mem_core.pipeline.advisor import Advisor
from claude_mem_core.pipeline.answer import Answers
from claude_mem_core.pipeline.bus import Bus
from claude_mem_core.pipeline.deliver import Deliverer
from claude_mem_core.pipeline.index import Indexer
from claude_mem_core.pipeline.late import LateAnswers
from claude_mem_core.pipeline.observe import ObserveLoop
from claude_mem_core.pipeline.record import Cleaners, Recorder
from claude_mem_core.pipeline.told import Told, tell
from claude_mem_core.plugins.calls import call_async, describe
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.settings import SettingsSource
from claude_mem_core.store import Store, meta

log = logging.getLogger(__name__)


@attrs.define
class Services:
    """Everything a route or a task of the worker may need."""

    paths: Paths
    settings: SettingsSource
    registry: Registry
    store: Store
    bus: Bus
    fence_id: str
    cleaners: Cleaners
    adapters: Adapters
    recorder: Recorder
    indexer: Indexer
    loop: ObserveLoop
    answers: Answers
    deliverer: Deliverer
    tasks: TaskGroup


@asynccontextmanager
async def open_services(paths: Paths, *, machine_env: bool = False) -> AsyncIterator[Services]:
    """Open the store and start the tasks; on leaving, finish what is in hand.

    Raises:
        StoreError: the database can't be used; the text names the command to run.
    """
    settings, registry = registry_of(paths, machine_env=machine_env)
    edge.prepare(paths, registry, settings.current())  # `_follow` tells what is wrong
    store = Store.open(paths.database)
    try:
        async with anyio.create_task_group() as tasks:
            services = _assemble(paths, settings, registry, store, tasks)
            services.indexer.open()
            tasks.start_soon(services.indexer.run)
            tasks.start_soon(services.loop.run)
            try:
                yield services
            finally:
                tell(registry, "mem_stopped")
                skip_pattern.close()
                tasks.cancel_scope.cancel()
        await services.loop.aclose()
    finally:
        store.close()


def _assemble(
    paths: Paths, settings: SettingsSource, registry: Registry, store: Store, tasks: TaskGroup
) -> Services:
    bus = Bus()
    start = _starter(tasks)
    fence_id = store.write(meta.fence_id).result()
    cleaners = Cleaners(registry, fence_id)
    indexer = Indexer(store, registry, settings)
    recorder = Recorder(
        settings=settings, registry=registry, store=store, bus=bus, cleaner=cleaners
    )
    loop = ObserveLoop(
        store=store,
        registry=registry,
        settings=settings,
        bus=bus,
        cleaners=cleaners,
        kept=lambda _: indexer.wake(),
    )
    answers = Answers(
        settings=settings,
        store=store,
        recorder=recorder,
        loop=loop,
        fence_id=fence_id,
        registry=registry,
        paths=paths,
    )
    late = LateAnswers(recorder.fill_answer, start, loop.wake)
    adapters = Adapters(registry)
    deliverer = Deliverer(
        adapters=adapters,
        recorder=recorder,
        answers=answers,
        loop=loop,
        late=late,
        indexer=indexer,
        told=Told(registry, store, start, loop.settle),
        advisor=Advisor(settings=settings, store=store, cleaners=cleaners, start=start),
    )
    return Services(
        paths=paths,
        settings=settings,
        registry=registry,
        store=store,
        bus=bus,
        fence_id=fence_id,
        cleaners=cleaners,
        adapters=adapters,
        recorder=recorder,
        indexer=indexer,
        loop=loop,
        answers=answers,
        deliverer=deliverer,
        tasks=tasks,
    )


def _starter(tasks: TaskGroup) -> Callable[..., None]:
    """Starts small tasks beside the answers; one that breaks is logged, no more."""

    async def outlived(work: Callable[..., Awaitable[None]], *args: object) -> None:
        outcome = await call_async(work.__name__, work, *args)
        if outcome.error is not None:
            log.error("%s: %s", outcome.plugin.lstrip("_"), describe(outcome.error))

    def start(work: Callable[..., Awaitable[None]], *args: object) -> None:
        tasks.start_soon(outlived, work, *args)

    return start
