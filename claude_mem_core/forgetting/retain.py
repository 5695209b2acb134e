"""Keeping within the limits that the user has set, by itself and on demand."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import apsw
import attrs

from claude_mem_core.errors import MemError
from claude_mem_core.forgetting import apart
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.recall import feed
from claude_mem_core.settings import Settings
from claude_mem_core.store import retain

if TYPE_CHECKING:
    from claude_mem_core.pipeline.services import Services

log = logging.getLogger(__name__)

EVERY_S = 6 * 3600.0
MB = 1 << 20


@attrs.frozen(kw_only=True)
class Kept:
    """What went, or would go: how many of each kind, and the size of the database.

    Attributes:
        over: bytes above the limit.
    """

    gone: Mapping[str, int] = attrs.field(factory=dict)
    before: int = 0
    after: int = 0
    over: int = 0


async def preview(services: Services) -> Kept:
    """What the rules would delete now; the limit of the size only says how far off it is.

    Raises:
        InvalidInput: a rule is none.
    """
    settings, now = services.settings.current(), now_ms()

    def read(conn: apsw.Connection) -> Kept:
        wanted = retain.rules(conn, settings[retain.SETTING])
        size = retain.live_bytes(conn)
        limit = _limit(settings)
        gone = retain.count(conn, wanted, now)
        return Kept(gone=gone, before=size, after=size, over=max(0, size - limit) if limit else 0)

    return await services.store.aread(read)


async def keep_within(services: Services) -> Kept:
    """Delete what the rules and the limit say, and give the room back.

    Raises:
        InvalidInput: a rule is none; nothing was deleted.
        StoreError: it can't be written.
    """
    store, settings, now = services.store, services.settings.current(), now_ms()
    wanted = await store.aread(lambda conn: retain.rules(conn, settings[retain.SETTING]))
    before = await store.aread(retain.live_bytes)
    gone: Counter[str] = Counter()
    while found := await store.awrite(lambda conn: retain.some(conn, wanted, now)):
        gone.update(found)
        await asyncio.sleep(0)
    limit = _limit(settings)
    if gone:
        await _tidy(services)
    for kind in retain.ORDER if limit else ():
        gone.update(await _shrunk(services, kind, limit))
    if gone:
        services.bus.publish("memories_expired", gone=dict(gone))
    after = await store.aread(retain.live_bytes)
    return Kept(gone=dict(gone), before=before, after=after, over=max(0, after - limit) if limit else 0)


async def _shrunk(services: Services, kind: str, limit: int) -> Mapping[str, int]:
    """Let the oldest of one kind go, as far as the limit asks for it."""
    count = 0
    while found := await services.store.awrite(lambda conn: retain.shrink(conn, kind, limit)):
        count += found
        await services.indexer.catch_up()
    if count:
        await _tidy(services)
    return {kind: count} if count else {}


async def _tidy(services: Services) -> None:
    await services.indexer.catch_up()
    await services.store.awrite(feed.tidy)
    await apart.tidied(services.paths, [])


def _limit(settings: Settings) -> int:
    return int(settings["CLAUDE_MEM_RETENTION_MAX_MB"]) * MB


async def run(services: Services) -> None:
    """At the start and every few hours; without rules and limit nothing is done."""
    await _purge(services)
    while True:
        settings = services.settings.current()
        if settings[retain.SETTING] or _limit(settings):
            try:
                kept = await keep_within(services)
            except MemError as error:
                log.warning("%s", error)
            else:
                if kept.gone:
                    log.info("retention: %s", ", ".join(f"{k}={n}" for k, n in kept.gone.items()))
        await asyncio.sleep(EVERY_S)


async def _purge(services: Services) -> None:
    days = int(services.settings.current()["CLAUDE_MEM_TOOL_USES_RETENTION_DAYS"])
    try:
        while await services.store.awrite(
            lambda conn: retain.purge_tool_uses(conn, days, now_ms())
        ):
            await asyncio.sleep(0)
    except MemError as error:
        log.warning("%s", error)
