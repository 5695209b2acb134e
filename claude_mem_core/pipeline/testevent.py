"""The test event of `mem doctor`: through the whole chain, and nothing of it stays.

It comes as every event does, by the hook, and is known by its session's id. It is judged,
cleaned, journaled, remembered, indexed and found on the writing connection, inside a
savepoint that is rolled back: no search, no context and no count can ever see it. One
that comes when nobody waits for it, from the spool, is dropped.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Mapping
from typing import Any

import apsw
import attrs

from claude_mem_core.errors import MemError, StoreDamaged
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.pipeline.observe import ObserveLoop
from claude_mem_core.pipeline.record import Recorder, Verdict
from claude_mem_core.recall import feed
from claude_mem_core.recall.counts import Counts
from claude_mem_core.recall.find import find
from claude_mem_core.store import Store, fetch, journal, memories, meta, projects
from claude_mem_core.types import Draft, Event, EventKind, Observed, Query

SESSION = "claude-mem-doctor-"
SECRET = "what-is-private-must-not-pass"
MOST = 200  # changes that are indexed on the way; more would hold up the writer
SETTLE_S = 5.0
KEPT = "doctor_ms"  # when a test event last went through; the proof that a commit works
LEFT = """
  SELECT (SELECT count(*) FROM events WHERE session = ?1)
       + (SELECT count(*) FROM sdk_sessions WHERE content_session_id = ?1)
       + (SELECT count(*) FROM observations WHERE title = ?2)
"""
DOOR = {
    "paused": "mem resume",
    "recording_stopped": "mem plugins",
    "project_excluded": "mem on",
    "cleaning_failed": "mem plugins",
}


def new_session() -> str:
    """The id of a session that holds one test event, to put into a host's payload."""
    return f"{SESSION}{secrets.token_hex(16)}"


def is_test(event: Event) -> bool:
    """Whether this is a test event; it must never be recorded."""
    return re.fullmatch(SESSION + "[0-9a-f]{32}", event.session_id) is not None


def words(session: str) -> str:
    """What the test event says. A part of it is private, to see that it stays out."""
    return f"Test event {word(session)} <private>{SECRET}</private>"


def word(session: str) -> str:
    """The word that only this test event holds."""
    return "probe" + session.removeprefix(SESSION)


@attrs.frozen
class Step:
    """One step of the chain. `fault` is empty when it went well; `cure` is a command."""

    name: str
    fault: str = ""
    cure: str = ""


class Undone(Exception):
    """All went well; the savepoint is rolled back on this."""


@attrs.define
class Report:
    """How far a test event came."""

    session: str
    host: str
    kind: str
    steps: list[Step] = attrs.field(factory=list)
    ms: float = 0.0

    @property
    def failed(self) -> bool:
        return any(step.fault for step in self.steps)

    def as_json(self) -> dict[str, Any]:
        """For the command line."""
        return {**attrs.asdict(self), "ok": not self.failed}


class TestEvents:
    """Takes test events in; `last` is what came of the newest one."""

    __test__ = False  # pytest looks for names like this one

    def __init__(self, store: Store, recorder: Recorder, loop: ObserveLoop) -> None:
        self._store = store
        self._recorder = recorder
        self._loop = loop
        self.last: Report | None = None

    async def take(self, event: Event, env: Mapping[str, str]) -> None:
        """Send `event` through everything behind the host's adapter."""
        begun = time.monotonic()
        report = Report(event.session_id, event.host, event.kind.value)
        report.steps += [Step("hook"), Step("worker"), Step("host")]
        verdict = await self._recorder.judge(event, env)
        report.steps.append(_door(verdict))
        if not report.failed:
            report.steps.append(_cleaned(event, verdict))
            report.steps += await self._stored(verdict)
        if not report.failed:
            report.steps += [await self._gone(event), await self._disk(), await self._observing()]
        report.ms = round((time.monotonic() - begun) * 1000, 1)
        self.last = report

    async def _stored(self, verdict: Verdict) -> list[Step]:
        way = _Way(verdict)
        try:
            await self._store.awrite(way.go)
        except Undone:
            return way.steps
        except MemError as error:  # of the store, or of what is kept in it
            damaged = isinstance(error, StoreDamaged)
            return way.stopped(str(error), "mem db repair" if damaged else "mem db check")
        return way.stopped("it was not taken back", "mem db check")

    async def _gone(self, event: Event) -> Step:
        left = await self._store.aread(lambda conn: _left(conn, event.session_id))
        return Step("taken back", "something of it was left" if left else "", "mem db check" if left else "")

    async def _disk(self) -> Step:
        """Whether a commit reaches the disk: everything else was rolled back."""
        now = str(now_ms())
        try:
            await self._store.awrite(lambda conn: meta.put(conn, KEPT, now))
        except MemError as error:
            return Step("disk", str(error), "mem db check")
        return Step("disk")

    async def _observing(self) -> Step:
        """Whether the loop that makes memories moves."""
        if await self._loop.settle(SETTLE_S) or self._loop.busy:
            return Step("observing")
        return Step("observing", "the observing loop does not move", "mem restart")


def _door(verdict: Verdict) -> Step:
    reason = verdict.reason
    if reason is None:
        return Step("door")
    return Step("door", f"an event would be left out: {reason}", DOOR.get(reason, "mem plugins"))


def _cleaned(event: Event, verdict: Verdict) -> Step:
    """What was private is gone, and the rest is there."""
    text = repr(attrs.astuple(verdict.event, recurse=True))
    if SECRET in text:
        return Step("cleaning", "private text passed", "mem plugins")
    return Step("cleaning", "" if word(event.session_id) in text else "the text was lost", "mem plugins")


class _Way:
    """The event's way through the store, on the writing connection. May go twice."""

    def __init__(self, verdict: Verdict) -> None:
        self._verdict = verdict
        self._session = verdict.event.session_id
        self.steps: list[Step] = []
        self._at = ""

    def stopped(self, fault: str, cure: str) -> list[Step]:
        """The steps, with the one that ended it."""
        cure = "mem db rebuild-index" if self._at in {"index", "search"} else cure
        return [*self.steps, Step(self._at or "journal", fault, cure)]

    def go(self, conn: apsw.Connection) -> None:
        """Journal, remember, index, find; always ends in an error.

        Raises:
            Undone: all went well.
            MemError: a step failed; `stopped` names it.
        """
        self.steps.clear()
        now = now_ms()
        receipt = self._journal(conn, now)
        self._memory(conn, receipt, now)
        self._index(conn)
        self._search(conn)
        raise Undone

    def _did(self, fault: str = "") -> None:
        if fault:
            raise MemError(fault)
        self.steps.append(Step(self._at))

    def _journal(self, conn: apsw.Connection, now: int) -> journal.Receipt:
        self._at = "journal"
        verdict = self._verdict
        receipt = journal.accept(
            conn,
            journal.Entry(
                event=verdict.event,
                event_key=self._session,
                project=projects.resolve(conn, verdict.place, now),
                trust=verdict.trust,
                state="pending" if verdict.state == "pending" else "recorded",
                now_ms=now,
            ),
        )
        read = journal.load_events(conn, receipt.session_db_id)
        self._did("" if word(self._session) in repr(read) else "it can't be read again")
        return receipt

    def _memory(self, conn: apsw.Connection, receipt: journal.Receipt, now: int) -> None:
        self._at = "memory"
        draft = Draft(
            type="discovery", title=word(self._session), events=(receipt.event_id,),
            prompt_number=receipt.prompt_number,
        )  # fmt: skip
        made = Observed(observations=(draft,))
        kept = memories.keep(conn, None, receipt.session_db_id, made, now)
        self._did("" if kept.observations else "no memory was kept")

    def _index(self, conn: apsw.Connection) -> None:
        self._at = "index"
        behind = feed.pending(conn)
        if behind > MOST:
            raise MemError(f"the word index is {behind} changes behind")
        while feed.feed(conn, MOST):
            pass
        self._did()

    def _search(self, conn: apsw.Connection) -> None:
        self._at = "search"
        found = find(conn, Query(text=word(self._session)), Counts(), 1.0)
        kinds = {hit.kind.value for hit in found.hits}
        prompt = self._verdict.event.kind is EventKind.PROMPT_SENT
        wanted = {"observation", "prompt"} if prompt else {"observation"}
        missing = wanted - kinds
        self._did(f"its {' and '.join(sorted(missing))} can't be found" if missing else "")


def _left(conn: apsw.Connection, session: str) -> int:
    found = find(conn, Query(text=word(session)), Counts(), 1.0).hits
    return len(found) + int(fetch.value(conn, LEFT, session, word(session)))
