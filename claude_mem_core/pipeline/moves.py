"""A moved folder is followed: the old place gone, the first commit the same.

Asked once for each place in the life of the worker, before the first event from there is
kept. Git is run only where it can tell something: for a place that nothing is known of
while another one is gone, and afterwards, beside the answers, to note the first commit.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import anyio
import anyio.to_thread
import apsw

from claude_mem_core import git
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.projects import Place
from claude_mem_core.store import Store, places

AGAIN_S = 600.0  # a repository without a commit may get one
MOST = 4_096
MOVED = "memory: {label} was {old} before; its memories came along (`mem project list`)"


class Moves:
    """Knows which places are settled, and which projects came from elsewhere."""

    def __init__(self, store: Store, start: Callable[..., object]) -> None:
        self._store = store
        self._start = start
        self._until: dict[str, float] = {}
        self._news: dict[str, str] = {}
        self._lock = anyio.Lock()

    async def settle(self, place: Place) -> None:
        """Before something is kept of `place`: let the project that moved there follow.

        Raises:
            StoreError: it can't be read or written.
        """
        if not place.repository or self._is_settled(place.key):
            return
        async with self._lock:
            if not self._is_settled(place.key):
                await self._settle(place)

    def take_news(self, place: Place) -> str:
        """One line about a move, once; empty when there was none."""
        return self._news.pop(place.key, "")

    def _is_settled(self, key: str) -> bool:
        return self._until.get(key, 0.0) > time.monotonic()

    async def _settle(self, place: Place) -> None:
        if len(self._until) > MOST:
            self._until = {}
        found, strays = await self._store.aread(lambda conn: _looked_up(conn, place))
        if found is not None and found.first_commit is not None:
            self._until[place.key] = float("inf")
            return
        if strays:
            await self._follow(place)
        self._until[place.key] = time.monotonic() + AGAIN_S
        self._start(self._note, place)

    async def _follow(self, place: Place) -> None:
        first = await _first_commit(place)
        if first is None:
            return
        moved = await self._store.awrite(
            lambda conn: places.follow(conn, place, first, now_ms())
        )
        if moved is not None:
            old = moved.repository.removesuffix("/.git")
            self._news[place.key] = MOVED.format(label=place.label, old=old)

    async def _note(self, place: Place) -> None:
        first = await _first_commit(place)
        await self._store.awrite(lambda conn: places.note(conn, place, first, now_ms()))


async def _first_commit(place: Place) -> str | None:
    return await anyio.to_thread.run_sync(
        git.first_commit, place.root, abandon_on_cancel=True
    )


def _looked_up(conn: apsw.Connection, place: Place) -> tuple[places.Seen | None, bool]:
    """What is kept of the place, and whether one that is gone may have come here."""
    found = places.seen(conn, place.key)
    unknown = found is None and not places.is_known(conn, place.key)
    return found, unknown and bool(places.gone(conn))
