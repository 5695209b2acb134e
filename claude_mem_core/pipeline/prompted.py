"""Memories with a prompt: opt-in, within a time that nobody notices."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import apsw

from claude_mem_core.pipeline import given
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.recall import semantic
from claude_mem_core.recall.context_rows import ALWAYS_SHOWN
from claude_mem_core.recall.search import Indexes
from claude_mem_core.settings import SettingsSource
from claude_mem_core.store import Store, given_log, projects

if TYPE_CHECKING:
    from claude_mem_core.pipeline.answer import Asked

log = logging.getLogger(__name__)

# The hook waits for three seconds; the answer has to be on its way before.
LONGEST_S = 2.5
CHARS = 9_000  # where the host names no limit


class Prompted:
    """Finds what fits a prompt. It has the parts that a search needs."""

    def __init__(
        self, store: Store, indexer: Indexes, settings: SettingsSource, fence_id: str
    ) -> None:
        self.store = store
        self.settings = settings
        self.indexer = indexer
        self._fence_id = fence_id

    async def context(self, asked: Asked, room: int = 0) -> str:
        """The text for the prompt; empty when nothing fits, or time is out.

        `room`: characters that the host has left for it; 0 for all that it takes.
        """
        settings, event = asked.settings, asked.event
        wished = settings["CLAUDE_MEM_SEMANTIC_INJECT"]
        if not wished or asked.place.kind == "general" or event.agent_id or not event.prompt:
            return ""
        most = room or asked.host.record.context_chars or CHARS
        seconds = min(settings["CLAUDE_MEM_SESSION_INIT_TIMEOUT_MS"] / 1000, LONGEST_S)
        found = semantic.Fitting()
        with anyio.move_on_after(seconds) as scope:
            found = await anyio.to_thread.run_sync(
                self._found, asked, most, abandon_on_cancel=True
            )
        if scope.cancelled_caught:
            log.info("a prompt went on without memories: the search took too long")
        if found.ids and asked.session_db_id:
            now = now_ms()
            self.store.write(lambda conn: _given(conn, asked, found, now))
        return found.text

    def _found(self, asked: Asked, most: int) -> semantic.Fitting:
        project = self.store.read(lambda conn: _project(conn, asked))
        if project is None:
            return semantic.Fitting()
        settings = asked.settings
        every = settings["CLAUDE_MEM_SESSION_START_INCLUDE_ALL_SOURCES"]
        return semantic.for_prompt(
            self, asked.event.prompt or "", project, None,
            settings["CLAUDE_MEM_SEMANTIC_INJECT_LIMIT"], settings, self._fence_id,
            hosts=() if every else (asked.event.host, *ALWAYS_SHOWN), most_chars=most,
        )  # fmt: skip


def _given(conn: apsw.Connection, asked: Asked, found: semantic.Fitting, now: int) -> None:
    """Keep what went with a prompt, and why."""
    session = asked.session_db_id
    given.note(conn, session, "prompt", found.ids, now)
    given_log.note(conn, session, f"prompt:{asked.prompt_number}", found.reasons, now)


def _project(conn: apsw.Connection, asked: Asked) -> str | None:
    known = projects.known(conn, asked.place)
    return str(known.id) if known else None
