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
from claude_mem_core.pipeline.ends import LooseEnds
from claude_mem_core.pipeline.index import Indexer
from claude_mem_core.pipeline.late import LateAnswers
from claude_mem_core.pipeline.models import Models
from claude_mem_core.pipeline.moves import Moves
from claude_mem_core.pipeline.observe import ObserveLoop
from claude_mem_core.pipeline.record import Cleaners, Recorder
from claude_mem_core.pipeline.sinks import Sinks
from claude_mem_core.pipeline.testevent import TestEvents
from claude_mem_core.pipeline.told import Told, tell
from claude_mem_core.pipeline.watching import Watchers
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
    tests: TestEvents
    tasks: TaskGroup
    models: Models
    watchers: Watchers
    sinks: Sinks
    ends: LooseEnds


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
        services.indexer.close()
    finally:
        store.close()


def _assemble(
    paths: Paths, settings: SettingsSource, registry: Registry, store: Store, tasks: TaskGroup
) -> Services:
    fence_id = store.write(meta.fence_id).result()
    parts = _Parts(
        paths=paths,
        settings=settings,
        registry=registry,
        store=store,
        start=_starter(tasks),
        fence_id=fence_id,
        bus=Bus(),
        cleaners=Cleaners(registry, fence_id),
        indexer=Indexer(store, registry, settings),
        models=Models(paths, settings, registry),
    )
    recorder, loop = _recorder(parts), _loop(parts)
    answers = _answers(parts, recorder, loop)
    adapters, tests = Adapters(registry), TestEvents(store, recorder, loop)
    told = Told(registry, store, parts.start, loop.settle)
    return Services(
        paths=paths,
        settings=settings,
        registry=registry,
        store=store,
        bus=parts.bus,
        fence_id=fence_id,
        cleaners=parts.cleaners,
        adapters=adapters,
        recorder=recorder,
        indexer=parts.indexer,
        loop=loop,
        answers=answers,
        deliverer=_deliverer(parts, adapters, recorder, answers, loop, tests, told),
        tests=tests,
        tasks=tasks,
        models=parts.models,
        watchers=_watchers(parts, recorder, loop, told),
        sinks=Sinks(registry=registry, settings=settings, store=store, bus=parts.bus),
        ends=LooseEnds(store=store, recorder=recorder, registry=registry, loop=loop),
    )


@attrs.frozen(kw_only=True)
class _Parts:
    """What the larger parts are made of."""

    paths: Paths
    settings: SettingsSource
    registry: Registry
    store: Store
    start: Callable[..., None]
    fence_id: str
    bus: Bus
    cleaners: Cleaners
    indexer: Indexer
    models: Models


def _recorder(parts: _Parts) -> Recorder:
    return Recorder(
        settings=parts.settings,
        registry=parts.registry,
        store=parts.store,
        bus=parts.bus,
        cleaner=parts.cleaners,
        moves=Moves(parts.store, parts.start),
    )


def _loop(parts: _Parts) -> ObserveLoop:
    return ObserveLoop(
        store=parts.store,
        registry=parts.registry,
        settings=parts.settings,
        bus=parts.bus,
        cleaners=parts.cleaners,
        kept=lambda _: parts.indexer.wake(),
        paths=parts.paths,
        models=parts.models,
    )


def _answers(parts: _Parts, recorder: Recorder, loop: ObserveLoop) -> Answers:
    return Answers(
        settings=parts.settings,
        store=parts.store,
        recorder=recorder,
        loop=loop,
        fence_id=parts.fence_id,
        registry=parts.registry,
        paths=parts.paths,
        indexer=parts.indexer,
        models=parts.models,
    )


def _deliverer(
    parts: _Parts, adapters: Adapters, recorder: Recorder, answers: Answers,
    loop: ObserveLoop, tests: TestEvents, told: Told,
) -> Deliverer:  # fmt: skip
    settings, store, start = parts.settings, parts.store, parts.start
    return Deliverer(
        adapters=adapters,
        recorder=recorder,
        answers=answers,
        loop=loop,
        late=LateAnswers(recorder.fill_answer, start, loop.wake),
        indexer=parts.indexer,
        told=told,
        tests=tests,
        advisor=Advisor(settings=settings, store=store, cleaners=parts.cleaners, start=start),
        active=parts.models.active,
    )


def _watchers(parts: _Parts, recorder: Recorder, loop: ObserveLoop, told: Told) -> Watchers:
    return Watchers(
        data=parts.paths.data, settings=parts.settings, registry=parts.registry,
        store=parts.store, bus=parts.bus, recorder=recorder, told=told, loop=loop,
        indexer=parts.indexer,
    )  # fmt: skip


def _starter(tasks: TaskGroup) -> Callable[..., None]:
    """Starts small tasks beside the answers; one that breaks is logged, no more."""

    async def outlived(work: Callable[..., Awaitable[None]], *args: object) -> None:
        outcome = await call_async(work.__name__, work, *args)
        if outcome.error is not None:
            log.error("%s: %s", outcome.plugin.lstrip("_"), describe(outcome.error))

    def start(work: Callable[..., Awaitable[None]], *args: object) -> None:
        tasks.start_soon(outlived, work, *args)

    return start
