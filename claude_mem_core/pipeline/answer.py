"""What the core says back: the session's context, a file's history, one line of notice."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

import apsw
import attrs

from claude_mem_core.paths import Paths
from claude_mem_core.pipeline import door, given
from claude_mem_core.pipeline.adapters import OpenHost
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.pipeline.models import Models
from claude_mem_core.pipeline.notices import Notices
from claude_mem_core.pipeline.observe import ObserveLoop
from claude_mem_core.pipeline.prompted import Prompted
from claude_mem_core.pipeline.readiness import unready
from claude_mem_core.pipeline.record import Recorder
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.projects import Place, excluded
from claude_mem_core.recall.context import ContextRequest, ContextText, session_context
from claude_mem_core.recall.file_history import (
    FileRequest,
    FileText,
    file_context,
    remember_file,
)
from claude_mem_core.recall.search import Indexes
from claude_mem_core.settings import Settings, SettingsSource
from claude_mem_core.settings.pausing import is_incognito, is_paused, paused_text
from claude_mem_core.store import Store, given_log, journal, projects
from claude_mem_core.types import Answer, Block, Event, EventKind, Query, StartSource

log = logging.getLogger(__name__)

# Kinds that lead to a context later, also where the host takes none at that point.
ASKING = {EventKind.SESSION_STARTED, EventKind.COMPACTED}
RESUME = "mem resume --session"
SETTLE_S = 1.0  # the last session's turn may just have ended


@attrs.frozen
class Asked:
    """One question for an answer."""

    event: Event
    host: OpenHost
    place: Place
    settings: Settings
    session_db_id: int
    prompt_number: int = 0


class Answers:
    """Builds the answer to an event; an empty one where nothing is to be said."""

    def __init__(
        self,
        *,
        settings: SettingsSource,
        store: Store,
        recorder: Recorder,
        loop: ObserveLoop,
        fence_id: str,
        registry: Registry,
        paths: Paths,
        indexer: Indexes,
        models: Models | None = None,
    ) -> None:
        self._settings = settings
        self._store = store
        self._recorder = recorder
        self._loop = loop
        self._fence_id = fence_id
        self._paths = paths
        self._registry = registry
        # Sessions that get their context at the next prompt, and why.
        self._due: dict[int, StartSource] = {}
        self._prompted = Prompted(store, indexer, settings, fence_id)
        self.notices = Notices(
            paths=paths, registry=registry, settings=settings, store=store, models=models
        )

    async def to(
        self,
        event: Event,
        host: OpenHost,
        receipt: journal.Receipt | None,
        env: Mapping[str, str],
    ) -> Answer:
        """The answer to `event`, within what the host can take."""
        answer = Answer(kind=event.kind, host_event=event.host_event)
        if event.kind not in host.record.injects_at and event.kind not in ASKING:
            return answer
        asked = self._asked(event, host, receipt)
        if excluded(asked.place, event.cwd, asked.settings):
            return answer
        if is_paused(asked.settings):
            return self._paused(asked, answer, paused_text(asked.settings), "mem resume")
        if is_incognito(event.session_id, asked.settings):
            return self._paused(asked, answer, "this session is incognito", RESUME)
        if event.kind is EventKind.SESSION_STARTED:
            return await self._session(asked, answer)
        if event.kind is EventKind.COMPACTED:
            self._due[asked.session_db_id] = StartSource.COMPACT
        if event.kind is EventKind.PROMPT_SENT:
            return await self._prompt(asked, answer)
        if (
            event.kind is EventKind.TOOL_STARTING
            and env.get("CLAUDE_MEM_DISABLE_FILE_CONTEXT") != "1"
        ):
            return attrs.evolve(answer, context=await self._file(asked))
        return answer

    def _asked(self, event: Event, host: OpenHost, receipt: journal.Receipt | None) -> Asked:
        settings = self._settings.current()
        place = self._recorder.place(event.cwd, settings)
        session = receipt.session_db_id if receipt else 0
        turn = receipt.prompt_number if receipt else 0
        return Asked(event, host, place, settings, session, turn)

    def _paused(self, asked: Asked, answer: Answer, what: str, end: str) -> Answer:
        """Nothing but a reminder at a session's start: a pause is easily forgotten."""
        if asked.event.kind is not EventKind.SESSION_STARTED:
            return answer
        return attrs.evolve(answer, notice=f"memory: {what}; `{end}` ends it")

    async def _session(self, asked: Asked, answer: Answer) -> Answer:
        news = self._recorder.moves.take_news(asked.place)
        shown = asked.settings["CLAUDE_MEM_CONTEXT_SHOW_TERMINAL_OUTPUT"]
        notice = await self.notices.for_session(asked.place, news) if shown else ""
        notice = notice or (await self.notices.spent() if shown else "")
        source = asked.event.source or StartSource.STARTUP
        if EventKind.SESSION_STARTED not in asked.host.record.injects_at:
            self._due[asked.session_db_id] = source
            return attrs.evolve(answer, notice=notice)
        await self._loop.settle(SETTLE_S)
        return attrs.evolve(answer, context=await self._context(asked, source), notice=notice)

    async def _prompt(self, asked: Asked, answer: Answer) -> Answer:
        """What fits the prompt, where that is wished; and, on hosts that take the
        session's context only there, that context with the first prompt after a start."""
        first = await self._first(asked)
        limit = asked.host.record.context_chars
        room = max(limit - len(first) - 1, 1) if limit else 0
        fitting = await self._prompted.context(asked, room)
        return attrs.evolve(answer, context="\n".join(filter(None, (first, fitting))))

    async def _first(self, asked: Asked) -> str:
        if EventKind.SESSION_STARTED in asked.host.record.injects_at:
            return ""
        session = asked.session_db_id
        source = self._due.pop(session, None)
        if source is None:
            if await self._store.aread(lambda conn: given.context_given(conn, session)):
                return ""
            source = StartSource.STARTUP
        await self._loop.settle(SETTLE_S)
        return await self._context(asked, source)

    async def _context(self, asked: Asked, source: StartSource) -> str:
        if asked.place.kind == "general":
            return ""
        made = await self._store.aread(lambda conn: self._made(conn, asked, source))
        if made.text and asked.session_db_id:
            now = now_ms()
            self._store.write(lambda conn: _given(conn, asked, source, made, now))
        return made.text

    def _made(self, conn: apsw.Connection, asked: Asked, source: StartSource) -> ContextText:
        project = projects.known(conn, asked.place)
        ids = projects.find(conn, project.id) if project else []
        label = project.label if project else asked.place.label
        request = self._request(asked, source, label, ids)
        return session_context(conn, request, asked.settings)

    def blocks(self, label: str) -> tuple[Block, ...]:
        """What plugins offer for the context; theirs is missing where they fail."""
        outcomes = self._registry.call(
            "mem_context_blocks", project=label, query=Query(project=label)
        )
        found = (o.value for o in outcomes if o.error is None and o.value is not None)
        return tuple(b for blocks in found for b in blocks if isinstance(b, Block))

    def _request(
        self, asked: Asked, source: StartSource, label: str, ids: Sequence[int]
    ) -> ContextRequest:
        return ContextRequest(
            project_ids=tuple(ids),
            label=label,
            host=asked.event.host,
            session_db_id=asked.session_db_id or None,
            source=source,
            char_limit=asked.host.record.context_chars,
            now_ms=now_ms(),
            fence_id=self._fence_id,
            notices=(*self.notices.standing(), *unready(asked.host.record, self._paths)),
            blocks=self.blocks(label),
        )

    async def _file(self, asked: Asked) -> str:
        """The history of the file that is about to be read."""
        path = door.read_path(asked.event)
        if not path or asked.place.kind == "general":
            return ""
        made, session = await self._store.aread(lambda conn: self._history(conn, asked, path))
        if made.text:
            now = now_ms()
            self._store.write(lambda conn: _file_given(conn, session, made, now))
        return made.text

    def _history(self, conn: apsw.Connection, asked: Asked, path: str) -> tuple[FileText, int]:
        project = projects.known(conn, asked.place)
        if project is None:
            return FileText(), 0
        session = given.session_of(conn, asked.event)
        request = FileRequest(
            path=path,
            cwd=asked.event.cwd,
            root=asked.place.root,
            project_ids=tuple(projects.find(conn, project.id)),
            session_db_id=session,
            fence_id=self._fence_id,
        )
        return file_context(conn, request), session


def _given(
    conn: apsw.Connection, asked: Asked, source: StartSource, made: ContextText, now: int
) -> None:
    """Keep what a session began with, and why."""
    beside = "folder" in asked.event.extra
    given.remember(conn, asked.session_db_id, list(made.ids), now, beside=beside)
    given_log.note(conn, asked.session_db_id, f"start:{source.value}", made.reasons, now)


def _file_given(conn: apsw.Connection, session: int, made: FileText, now: int) -> None:
    remember_file(conn, session, made, now)
    given_log.note(conn, session, made.what, dict.fromkeys(made.ids, "earlier work on it"), now)
