"""Loose ends: what a host did not report of its last turn, since it was gone too soon.

Some programs exit while their last hooks still run, and some never run them then. Once a
turn is quiet, its host's transcript is read: tool uses that are missing and the turn's
end are made up from it. Where that can't be done, a receipt says that the end is missing.
"""

from __future__ import annotations

import logging

import anyio
import anyio.to_thread

from claude_mem_core.errors import InvalidInput, StoreError
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.pipeline.observe import ObserveLoop
from claude_mem_core.pipeline.record import Recorder
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.store import Store, ends
from claude_mem_core.store.ends import END_MISSING, QuietTurn
from claude_mem_core.transcripts import Found, ends_of, find_all
from claude_mem_core.types import Event, EventKind, Host
from claude_mem_core.types.retelling import FROM

log = logging.getLogger(__name__)

LOOK_S = 20.0
QUIET_MS = 45_000  # hosts think for long; a look at their transcript costs little
GONE_MS = 1_800_000  # after that, nothing more is expected
BACK_MS = 2 * 86_400_000
MOST = 4_096
TOOLS = {EventKind.TOOL_USED, EventKind.TOOL_FAILED}
NEAR_MS = 120_000  # between a prompt's hook and its record


class LooseEnds:
    """Looks after turns that went quiet."""

    def __init__(
        self, *, store: Store, recorder: Recorder, registry: Registry, loop: ObserveLoop,
        quiet_ms: int = QUIET_MS, gone_ms: int = GONE_MS,
    ) -> None:  # fmt: skip
        self._store = store
        self._recorder = recorder
        self._registry = registry
        self._loop = loop
        self._quiet_ms = quiet_ms
        self._gone_ms = gone_ms
        self._seen: dict[tuple[int, int], int] = {}  # turns, and their last event then

    async def run(self) -> None:
        """Look from time to time until cancelled."""
        while True:
            await anyio.sleep(LOOK_S)
            try:
                await self.sweep()
            except StoreError as error:
                log.warning("loose ends wait: %s", error)

    async def sweep(self) -> int:
        """Look at all turns that are quiet; how many events were made up."""
        now = now_ms()
        quiet = await self._store.aread(
            lambda conn: ends.quiet(conn, now - BACK_MS, now - self._quiet_ms)
        )
        made = 0
        for turn in quiet:
            made += await self._turn(turn, now)
        return made

    async def _turn(self, turn: QuietTurn, now: int) -> int:
        host = self._host(turn.host)
        if host is None or (turn.ended and not host.leaves_early):
            return 0
        key, made = (turn.session_db_id, turn.number), 0
        if self._seen.get(key) != turn.last_ms:
            made = await self._made_up(host, turn)
            self._remember(key, turn.last_ms)
        gone = turn.completed or now - turn.last_ms > self._gone_ms
        if not made and not turn.ended and gone:
            await self._recorder.accept_all([_missing(turn)])
        return made

    def _remember(self, key: tuple[int, int], last_ms: int) -> None:
        while len(self._seen) >= MOST:
            del self._seen[next(iter(self._seen))]
        self._seen[key] = last_ms

    def _host(self, name: str) -> Host | None:
        records = self._registry.records("mem_hosts", Host)
        return next((record for record in records if record.name == name), None)

    async def _made_up(self, host: Host, turn: QuietTurn) -> int:
        """Hand in what the transcript has of the turn and the journal has not."""
        try:
            events = await anyio.to_thread.run_sync(_last_turn, host, turn)
        except (OSError, InvalidInput) as error:
            log.info("a transcript of %s is not read: %s", turn.host, error)
            return 0
        missing = await self._store.aread(
            lambda conn: [
                event for event in events
                if (event.kind is EventKind.TURN_ENDED and not turn.ended)
                or (event.tool and not ends.has_tool(conn, turn.session_db_id, event.tool.id))
            ]
        )  # fmt: skip
        if missing:
            await self._recorder.accept_all(missing)
            self._loop.wake()
        return len(missing)


def _last_turn(host: Host, turn: QuietTurn) -> list[Event]:
    """The events of the last turn in the session's transcript, if it is this one.

    Raises:
        OSError: the transcript can't be read.
    """
    found = _located(host, turn)
    if found is None:
        return []
    events = [event for event in ends_of(found) if event.session_id == turn.session_id]
    prompts = [n for n, event in enumerate(events) if event.kind is EventKind.PROMPT_SENT]
    if not prompts or abs(events[prompts[-1]].at_ms - turn.prompt_ms) > NEAR_MS:
        return []
    last = events[prompts[-1] + 1 :]
    return [e for e in last if e.kind in {*TOOLS, EventKind.TURN_ENDED} and not e.in_subagent]


def _located(host: Host, turn: QuietTurn) -> Found | None:
    """The transcript that the events named, else the one whose path names the session."""
    named = (turn.transcript or "").replace("\\", "/")
    forms = [form for form in host.transcripts if form.form == "lines" and not form.inner]
    for found in reversed(find_all(host, {})) if forms else ():
        path = found.path.replace("\\", "/")
        if found.form in forms and (_ends_in(path, named) or turn.session_id in path):
            return found
    return None


def _ends_in(path: str, named: str) -> bool:
    return bool(named) and (path == named or path.endswith(f"/{named}"))


def _missing(turn: QuietTurn) -> Event:
    """A receipt: nobody said how this turn ended."""
    return Event(
        kind=EventKind.NOTICE, host=turn.host, session_id=turn.session_id, cwd=turn.cwd,
        at_ms=turn.last_ms, prompt_id=f"#{turn.number}", reason=END_MISSING, host_event=FROM,
    )  # fmt: skip

