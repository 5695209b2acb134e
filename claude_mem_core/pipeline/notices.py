"""The one line that a person sees at a session's start when something is wrong.

Each thing is said once in a while, not at every session: `state` in the database keeps
when it was last said.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from contextlib import suppress

import anyio
import apsw

from claude_mem_core import edge
from claude_mem_core.errors import StoreError
from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.pipeline.longbroken import LongBroken
from claude_mem_core.pipeline.models import Models
from claude_mem_core.plugins import news as plugin_news
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.projects import Place
from claude_mem_core.settings import SettingsSource
from claude_mem_core.store import Store, counters, links, meta, offer, projects

AGAIN_MS = 20 * 3_600_000
SAID = "notices_said"
PATIENCE_S = 0.5
LOST = (
    "memory: {} events could not be kept, because the data directory was full or not"
    " writable; see `mem doctor`"
)
OFFER = "memory: a database of claude-mem"  # said once, ever
CONFIRM = ["mem", "project", "confirm"]
MARKED = (
    "memory: a marker file in {} asks to make it one project with all below it; `{}` in a"
    " terminal agrees"
)
FOUND = (
    OFFER + " lies in {}; `mem import claude-mem` takes its memories"
    " over and leaves it as it is"
)


class Notices:
    """Collects what is wrong and says the first thing not said lately."""

    def __init__(
        self, *, paths: Paths, registry: Registry, settings: SettingsSource, store: Store,
        models: Models | None = None,
    ) -> None:  # fmt: skip
        self._models = models
        self._paths = paths
        self._registry = registry
        self._settings = settings
        self._store = store
        self.broken = LongBroken(store)
        self.outage: int = 0
        self._news = ""
        self.sources: list[Callable[[], str | None]] = [
            self._recording,
            self._broken_settings,
            self._lost,  # before what was only late
            self._outage,
            self._plugins,
            self._claude_mem,
        ]

    async def for_session(self, place: Place, news: str = "") -> str:
        """One line, or nothing. `news` is what just happened to this project."""
        texts = [text for source in self.sources if (text := source())]
        texts[:0] = await self._provider()
        texts += [news] if news else []
        if place.kind == "general":
            texts.append(
                "memory: this folder belongs to no project; what happens here is kept"
                " apart and never shown in a session"
            )
        if place.marked and place.kind == "folder":
            texts.append(MARKED.format(place.marked, shlex.join(CONFIRM + [place.marked])))
        clones = await self._store.aread(lambda conn: _clones(conn, place))
        if not (texts or clones):
            return await self.broken.line(now_ms())
        said = await self._store.awrite(
            lambda conn: _first_unsaid(conn, texts, now_ms()) or _offered(conn, clones)
        )
        if said and said == self._news:
            plugin_news.news(self._paths, "session")
        if said == self._lost():
            with suppress(StoreError, OSError):
                told = edge.take_lost(self._paths)  # count anew; the sum stays for the rate
                await self._store.awrite(lambda conn: counters.add(conn, "lost", now_ms(), told))
        return said or await self.broken.line(now_ms())

    def standing(self) -> tuple[str, ...]:
        """What keeps the memory from its work now: the agent is told it with every context."""
        found = (self._recording(), self._broken_settings())
        return tuple(text for text in found if text)

    async def spent(self) -> str:
        """What models cost today, for a session's start at which nothing else is to be said."""
        text = ""
        if self._models is not None:
            with anyio.move_on_after(PATIENCE_S):
                text = await self._models.spent()
        return text

    async def _provider(self) -> list[str]:
        """What keeps the chosen provider from its work; a keyring that hangs holds up nobody."""
        text = ""
        if self._models is not None:
            with anyio.move_on_after(PATIENCE_S):
                text = await self._models.notice()
        return [text] if text else []

    def _recording(self) -> str | None:
        fault = self._registry.recording_fault()
        return f"memory: recording is stopped: {fault}" if fault else None

    def _broken_settings(self) -> str | None:
        broken = self._settings.current().broken
        return f"memory: {broken}" if broken else None

    def _outage(self) -> str | None:
        if not self.outage:
            return None
        return (
            f"memory: the worker was down for a while; {self.outage} events waited on"
            " disk and are being taken in now (`mem status` shows it)"
        )

    def _lost(self) -> str | None:
        count = edge.lost(self._paths)
        return LOST.format(count) if count else None

    def _plugins(self) -> str | None:
        found = plugin_news.news(self._paths, "session", mark=False)
        self._news = "memory: " + "; ".join(plugin_news.few(found)) if found else ""
        return self._news or None

    def _claude_mem(self) -> str | None:
        there = (self._paths.data / offer.NAME).is_file()
        return FOUND.format(self._paths.data) if there else None


def _clones(conn: apsw.Connection, place: Place) -> list[links.Clone]:
    """Clones of this project's remote that were not offered to a session yet."""
    project = projects.known(conn, place) if place.remote else None
    return links.untold(conn, "session", links.clones(conn, project.id)) if project else []


def _offered(conn: apsw.Connection, clones: list[links.Clone]) -> str:
    """Offer the first of them, once."""
    for clone in links.untold(conn, "session", clones)[:1]:
        links.tell(conn, "session", [clone])
        return f"memory: {clone.offer}"
    return ""


def _first_unsaid(conn: apsw.Connection, texts: list[str], now: int) -> str:
    said = json.loads(meta.get(conn, SAID) or "{}")
    fresh = {text: at for text, at in said.items() if now - at < AGAIN_MS}
    for text in texts:
        offered = text.startswith(OFFER)
        if text not in fresh and not (offered and not offer.is_open(conn)):
            meta.put(conn, SAID, json.dumps({**fresh, text: now}))
            if offered:
                offer.close(conn, now)
            return text
    return ""
