"""Plugins are told what happened; what they make of it holds nothing up."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import apsw

from claude_mem_core.plugins.calls import describe
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.store import Store, journal, memories
from claude_mem_core.types import Event, EventKind, Summary

log = logging.getLogger(__name__)

LAST = "SELECT max(id) FROM session_summaries WHERE session_db_id = ?"
SETTLE_S = 5.0  # the last turn's summary is being made while the session ends


def tell(registry: Registry, hook: str, **kwargs: Any) -> None:
    """Call a hook that only tells; a fault is logged with the plugin's name."""
    for outcome in registry.call(hook, **kwargs):
        if outcome.error is not None:
            log.warning("plugin %s: %s", outcome.plugin, describe(outcome.error))


class Told:
    """Tells plugins of the beginning and the end of sessions."""

    def __init__(
        self,
        registry: Registry,
        store: Store,
        start: Callable[..., object],
        settle: Callable[[float], Awaitable[object]],
    ) -> None:
        self._registry = registry
        self._store = store
        self._start = start
        self._settle = settle

    def of(self, event: Event, receipt: journal.Receipt) -> None:
        """Tell of what `event` began or ended, if anything."""
        if receipt.duplicate or receipt.state == "skipped":
            return
        if receipt.new_session:
            self._start(self._started, event, receipt.session_db_id)
        if event.kind is EventKind.SESSION_ENDED:
            self._start(self._ended, event, receipt.session_db_id)

    async def _started(self, event: Event, session_db_id: int) -> None:
        about = await self._store.aread(lambda conn: memories.session(conn, session_db_id))
        tell(self._registry, "mem_session_started", event=event, project=about.project)

    async def _ended(self, event: Event, session_db_id: int) -> None:
        await self._settle(SETTLE_S)
        summary = await self._store.aread(lambda conn: _last(conn, session_db_id))
        tell(self._registry, "mem_session_ended", event=event, summary=summary)


def _last(conn: apsw.Connection, session_db_id: int) -> Summary | None:
    for (number,) in conn.execute(LAST, (session_db_id,)):
        return memories.summary(conn, number) if number else None
    return None
