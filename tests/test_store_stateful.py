"""Any interleaving of accepting, repeating, observing, failing and crashing adds up."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from claude_mem_core.store import Store, memories, queue
from claude_mem_core.types import DocKind, Event, EventKind, Observed, Skip, ToolUse
from tests.store_home import IDLE, LEASE, Home, key_of, observing

SESSIONS = st.sampled_from(["s1", "s2", "s3"])
LATE = st.integers(-90_000, 1_000)  # milliseconds by which a hook was overtaken


class QueueMachine(RuleBasedStateMachine):
    """A store, and beside it the plain truth of what was acknowledged."""

    events = Bundle("events")
    works = Bundle("works")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="store-"))
        self.home = Home(Store.open(self.folder / "0" / "memory.db"))
        self.accepted: dict[str, str] = {}
        self.count = 0
        self.crashes = 0

    def teardown(self) -> None:
        self.home.store.close()
        shutil.rmtree(self.folder)

    def take(self, event: Event, **more: Any) -> Event:
        """Accept an event; once acknowledged it must never get lost."""
        self.home.now += 7
        receipt = self.home.accept(event, **more)
        if not receipt.duplicate:
            self.accepted[key_of(event)] = event.session_id
        return event

    def made(self, kind: EventKind, session: str, late: int, **more: Any) -> Event:
        self.count += 1
        return self.home.event(kind, late, session_id=session, **more)

    # What hosts send -----------------------------------------------------------------------

    @rule(target=events, session=SESSIONS, late=LATE)
    def prompt(self, session: str, late: int) -> Event:
        event = self.made(EventKind.PROMPT_SENT, session, late, prompt=f"prompt {self.count}")
        return self.take(event)

    @rule(target=events, session=SESSIONS, late=LATE, named=st.booleans())
    def private(self, session: str, late: int, named: bool) -> Event:
        name = f"p{self.count}" if named else None
        event = self.made(EventKind.PROMPT_SENT, session, late, prompt="", prompt_id=name)
        return self.take(event, state="skipped", reason="private")

    @rule(target=events, session=SESSIONS, late=LATE)
    def tool(self, session: str, late: int) -> Event:
        use = ToolUse(name="Bash", id=f"t{self.count}", input="in", output="out")
        return self.take(self.made(EventKind.TOOL_USED, session, late, tool=use))

    @rule(target=events, session=SESSIONS, late=LATE)
    def stop(self, session: str, late: int) -> Event:
        event = self.made(EventKind.TURN_ENDED, session, late, answer=f"answer {self.count}")
        return self.take(event)

    @rule(target=events, session=SESSIONS)
    def end(self, session: str) -> Event:
        return self.take(self.made(EventKind.SESSION_ENDED, session, 0))

    @rule(session=SESSIONS)
    def excluded(self, session: str) -> None:
        use = ToolUse(name="Bash", id=f"t{self.count}")
        event = self.made(EventKind.TOOL_USED, session, 0, tool=use)
        self.take(event, state="skipped", reason="excluded")

    @rule(event=events, delivery=st.sampled_from(["", "d1", "d2"]))
    def again(self, event: Event, delivery: str) -> None:
        """Repeated, perhaps after its session was deleted: then it is new."""
        if self.accepted.get(key_of(event)) is not None:
            private = event.kind is EventKind.PROMPT_SENT and not event.prompt
            state = {"state": "skipped", "reason": "private"} if private else {}
            assert self.home.accept(event, delivery=delivery and f"{key_of(event)}{delivery}",
                                    **state).duplicate  # fmt: skip

    # What the observing loop does --------------------------------------------------------------

    @rule(target=works, force=st.booleans(), idle=st.booleans())
    def claim(self, force: bool, idle: bool) -> list[queue.Work]:
        return self.home.claim(IDLE + 1 if idle else 0, force=force)

    @rule(works=works, skip=st.booleans())
    def keep(self, works: list[queue.Work], skip: bool) -> None:
        """Also twice, also after the lease ran out, also of a session that is gone."""
        for work in works:
            if work.session_db_id not in self.sessions():
                continue
            made = observing(work)
            if skip:
                made = Observed(skipped=(Skip(event_id=work.event_ids[0], reason="routine"),))
            self.home.keep(work, made)

    @rule(works=works)
    def fail(self, works: list[queue.Work]) -> None:
        for work in works:
            self.home.write(lambda conn, work=work: queue.fail(conn, work, "no", self.home.now))

    @rule()
    def leases_run_out(self) -> None:
        self.home.now += LEASE + 1
        self.home.write(lambda conn: queue.release_stale(conn, self.home.now))

    @rule()
    def time_passes(self) -> None:
        self.home.now += 60_000

    # What people do ------------------------------------------------------------------------------

    @rule()
    def retry(self) -> None:
        self.home.write(queue.retry)

    @rule()
    def discard(self) -> None:
        self.home.write(lambda conn: queue.discard(conn, None, self.home.now))

    @rule(pick=st.integers(0, 10))
    def delete_memory(self, pick: int) -> None:
        ids = [row[0] for row in self.home.rows("SELECT id FROM observations ORDER BY id")]
        if ids:
            number = ids[pick % len(ids)]
            self.home.write(lambda c: memories.delete(c, DocKind.OBSERVATION, number))

    @rule(session=SESSIONS)
    def delete_session(self, session: str) -> None:
        sql = "SELECT id FROM sdk_sessions WHERE content_session_id = ?"
        number = self.home.value(sql, session)
        if number is None:
            return
        self.home.write(lambda conn: memories.delete_session(conn, number, self.home.now))
        kept = {row[0] for row in self.home.rows("SELECT key FROM events")}
        self.accepted = {
            key: of for key, of in self.accepted.items() if of != session or key in kept
        }

    @rule(resumed=st.booleans())
    def crash(self, resumed: bool) -> None:
        """What is on the disk now is all that a killed process leaves."""
        self.crashes += 1
        copy = self.folder / str(self.crashes)
        shutil.copytree(self.home.path.parent, copy)
        self.home.store.close()
        self.home.store = Store.open(copy / "memory.db")
        if resumed:
            self.home.write(lambda conn: queue.resume(conn, self.home.now))

    # What must hold -------------------------------------------------------------------------------

    def sessions(self) -> set[int]:
        return {row[0] for row in self.home.rows("SELECT id FROM sdk_sessions")}

    @invariant()
    def the_sum_is_right(self) -> None:
        account = self.home.verify()
        assert account.off == ()
        assert account.found == len(self.accepted)

    @invariant()
    def nothing_is_lost_or_doubled(self) -> None:
        keys = [row[0] for row in self.home.rows("SELECT key FROM events")]
        assert sorted(keys) == sorted(self.accepted)

    @invariant()
    def nothing_is_observed_twice(self) -> None:
        assert self.home.rows("""SELECT event_id FROM evidence WHERE kind = 'observation'
          GROUP BY event_id HAVING count(*) > 1""") == []

    @invariant()
    def counts_agree(self) -> None:
        totals = dict(self.home.rows("SELECT kind, sum(n) FROM totals GROUP BY kind"))
        for kind, table in (("observation", "observations"), ("prompt", "user_prompts")):
            assert totals.get(kind, 0) == self.home.value(f"SELECT count(*) FROM {table}")


TestQueue = QueueMachine.TestCase
TestQueue.settings = settings(
    max_examples=30, stateful_step_count=40, deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
