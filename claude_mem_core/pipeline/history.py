"""History from before the install: transcripts taken in as events and observed by rules.

Nobody here has seen how it came about, so all of it is `foreign`. Events have ids of
their own, so a second run, or one after an interruption, keeps nothing twice. Nothing is
queued: a model is asked only if somebody says so afterwards.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import anyio.to_thread
import apsw
import attrs

from claude_mem_core.convert import event_to_json
from claude_mem_core.errors import InvalidInput
from claude_mem_core.pipeline import turns
from claude_mem_core.pipeline.clean_reply import cleaned
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.pipeline.keys import event_key, own_id
from claude_mem_core.pipeline.record import WORK, Cleaners, Recorder
from claude_mem_core.plugins.calls import call_async, describe
from claude_mem_core.settings import SettingsSource
from claude_mem_core.store import Store, again, fetch, queue, told
from claude_mem_core.transcripts import Found, reader_of, records_of
from claude_mem_core.types import Event, EventKind, Host, Observer, Trust

log = logging.getLogger(__name__)

PIECE = 200  # events in one transaction
MOST = 200  # observations of one session: a mass of foreign text must not drown the rest
KNOWN = "SELECT 1 FROM events WHERE key = ?"


@attrs.frozen(kw_only=True)
class Wanted:
    """What of the history is wanted; times in milliseconds, `until` not included.

    Attributes:
        project: label of a project, or a directory below which it was.
        inner: sub-agents too.
        dry: only count.
        model: give it to the model afterwards.
    """

    since: int = 0
    until: int = 1 << 62
    project: str = ""
    inner: bool = False
    dry: bool = False
    model: bool = False


@attrs.define
class Taken:
    """What an import found and did."""

    transcripts: int = 0
    unreadable: list[str] = attrs.field(factory=list)
    hooked: set[str] = attrs.field(factory=set)  # sessions that hooks reported
    sessions: set[tuple[str, str]] = attrs.field(factory=set)
    new: Counter[str] = attrs.field(factory=Counter)  # by kind of event
    skipped: Counter[str] = attrs.field(factory=Counter)  # by reason
    known: int = 0
    turns: int = 0
    chars: int = 0
    observations: int = 0
    for_model: int = 0


class History:
    """Takes in transcripts, one after the other."""

    def __init__(
        self, *, store: Store, recorder: Recorder, settings: SettingsSource,
        cleaners: Cleaners, observer: Observer, work: Path, wanted: Wanted,
    ) -> None:  # fmt: skip
        self._store = store
        self._recorder = recorder
        self._settings = settings
        self._cleaners = cleaners
        self._observer = observer
        self._work = work
        self._wanted = wanted
        self.taken = Taken()

    async def take(self, host: Host, found: Found) -> None:
        """Take in one transcript; one that can't be read is named and passed over.

        Raises:
            StoreError: nothing more could be written; what is written stays.
        """
        self.taken.transcripts += 1
        try:
            events = await anyio.to_thread.run_sync(_events, found, self._work)
        except (OSError, InvalidInput) as error:
            log.warning("%s is not read: %s", found.path, error)
            self.taken.unreadable.append(found.path)
            return
        wanted = [event for event in events if await self._is_wanted(event)]
        for start in range(0, len(wanted), PIECE):
            await self._piece(wanted[start : start + PIECE])
        if not self._wanted.dry:
            for key in dict.fromkeys((event.host, event.session_id) for event in wanted):
                await self._observe(*key)

    async def _is_wanted(self, event: Event) -> bool:
        if not self._wanted.since <= event.at_ms < self._wanted.until:
            return False
        if event.in_subagent and not self._wanted.inner:
            return False
        if self._wanted.project and not self._is_there(event.cwd):
            return False
        key = f"{event.host}:{event.session_id}"
        if key in self.taken.hooked:
            return False
        if (event.host, event.session_id) not in self.taken.sessions:
            if await self._store.aread(lambda conn: told.hooked(conn, event.host, event.session_id)):
                self.taken.hooked.add(key)
                return False
            self.taken.sessions.add((event.host, event.session_id))
        return True

    def _is_there(self, cwd: str) -> bool:
        place = self._recorder.place(cwd, self._settings.current())
        wanted = self._wanted.project
        return wanted in {place.label, place.worktree_label} or f"{cwd}/".startswith(
            f"{wanted.rstrip('/')}/"
        )

    # Events ----------------------------------------------------------------------------

    async def _piece(self, events: Sequence[Event]) -> None:
        taken = self.taken
        fresh = await self._store.aread(lambda conn: _unknown(conn, events))
        taken.known += len(events) - len(fresh)
        if self._wanted.dry:
            await self._count(fresh)
            return
        receipts = await self._recorder.accept_all(fresh, Trust.FOREIGN, aside=True)
        for event, receipt in zip(fresh, receipts, strict=True):
            self._note(event, receipt.reason, known=receipt.duplicate)

    async def _count(self, events: Sequence[Event]) -> None:
        verdicts = [await self._recorder.judge(event, {}) for event in events]
        clean = [verdict.event for verdict in verdicts]
        known = await self._store.aread(lambda c: [_is_here(c, event_key(c, e)) for e in clean])
        for verdict, here in zip(verdicts, known, strict=True):
            self._note(verdict.event, verdict.reason, known=here)

    def _note(self, event: Event, reason: str | None, *, known: bool) -> None:
        if known:
            self.taken.known += 1
        elif reason is not None:
            self.taken.skipped[reason] += 1
        else:
            self.taken.new[event.kind.value] += 1
            self.taken.turns += event.kind is EventKind.PROMPT_SENT
            self.taken.chars += len(event_to_json(event))

    # Memories --------------------------------------------------------------------------

    async def _observe(self, host: str, session_id: str) -> None:
        """Observe what is not yet of a session, turn after turn."""
        kinds = [kind.value for kind in WORK]
        works = await self._store.aread(lambda c: told.waiting(c, host, session_id, kinds))
        for work in works:
            self.taken.observations += await self._one(work)
        if works and self._wanted.model:
            await self._give(session_id)

    async def _one(self, work: queue.Work) -> int:
        """Observe one turn; how many observations were kept of it."""
        turn = await self._store.aread(lambda conn: turns.whole(conn, work))
        outcome = await call_async("builtin", self._observer.observe, turn.batch)
        if outcome.error is not None:
            log.error("a turn is not observed: %s", describe(outcome.error))
            return 0
        cleaner = self._cleaners.current(self._settings.current())
        observed = cleaned(outcome.value, cleaner, turn.batch)
        return await self._store.awrite(
            lambda conn: told.keep(conn, work, observed, now_ms(), MOST)
        )

    async def _give(self, session_id: str) -> None:
        found = await self._store.awrite(
            lambda conn: again.again(conn, now_ms(), session=session_id)
        )
        self.taken.for_model += found.turns


def _events(found: Found, work: Path) -> list[Event]:
    """All that a transcript tells."""
    reader = reader_of(found)
    events: list[Event] = []
    for record in records_of(found, work):
        events += reader.read(record)
    return [*events, *reader.rest()]


def _unknown(conn: apsw.Connection, events: Iterable[Event]) -> list[Event]:
    """Those that are not here for sure; their own ids tell, whatever they say."""
    return [e for e in events if not own_id(e) or not _is_here(conn, event_key(conn, e))]


def _is_here(conn: apsw.Connection, key: str) -> bool:
    return fetch.row(conn, KNOWN, key) is not None
