"""Any interleaving of accepting, repeating, observing, failing and crashing adds up."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    invariant,
    multiple,
    rule,
)

from claude_mem_core.store import Store, memories, queue
from claude_mem_core.types import DocKind, Event, EventKind, Observed, Skip, ToolUse
from tests.store_home import IDLE, LEASE, Home, key_of, observing

SESSIONS = st.sampled_from(["s1", "s2"])
LATE = st.sampled_from([0, 0, 0, -1, -30_000, -90_000])  # by which a hook was overtaken
KINDS = st.sampled_from(["prompt", "private", "tool", "tool", "stop", "stop", "end", "excluded"])
DEEDS = st.sampled_from(["retry", "discard", "delete memory", "delete session"])
FORCE = st.sampled_from([True, True, False])
PRIVATE = {"state": "skipped", "reason": "private"}


class QueueMachine(RuleBasedStateMachine):
    """A store, and beside it the plain truth of what was acknowledged.

    Few rules with much inside, so that what belongs together meets often enough.
    """

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

    # What hosts send -----------------------------------------------------------------------

    @rule(target=events, kind=KINDS, session=SESSIONS, late=LATE, named=st.booleans())
    def happens(self, kind: str, session: str, late: int, named: bool) -> Event:
        """An event is accepted; once acknowledged it must never get lost."""
        self.home.now += 7
        self.count += 1
        made: dict[str, tuple[EventKind, dict[str, Any]]] = {
            "prompt": (EventKind.PROMPT_SENT, {"prompt": f"prompt {self.count}"}),
            "private": (EventKind.PROMPT_SENT, {"prompt": ""}),
            "stop": (EventKind.TURN_ENDED, {"answer": f"answer {self.count}"}),
            "end": (EventKind.SESSION_ENDED, {}),
        }
        use = ToolUse(name="Bash", id=f"t{self.count}", input="in", output="out")
        event_kind, fields = made.get(kind, (EventKind.TOOL_USED, {"tool": use}))
        if kind == "private" and named:
            fields["prompt_id"] = f"p{self.count}"
        event = self.home.event(event_kind, late, session_id=session, **fields)
        receipt = self.home.accept(event, **self.judged(event, kind))
        if not receipt.duplicate:
            self.accepted[key_of(event)] = session
        return event

    def judged(self, event: Event, kind: str = "") -> dict[str, Any]:
        if event.kind is EventKind.PROMPT_SENT and not event.prompt:
            return PRIVATE
        return {"state": "skipped", "reason": "excluded"} if kind == "excluded" else {}

    @rule(event=events, delivery=st.sampled_from(["", "d1", "d2"]))
    def again(self, event: Event, delivery: str) -> None:
        """A repeat changes nothing."""
        if key_of(event) in self.accepted:
            name = delivery and f"{key_of(event)}{delivery}"
            receipt = self.home.accept(event, delivery=name, **self.judged(event))
            assert receipt.duplicate

    # What the observing loop does --------------------------------------------------------------

    @rule(target=works, force=FORCE, wait=st.sampled_from([0, 0, IDLE]))
    def claim(self, force: bool, wait: int) -> MultipleResults[queue.Work]:
        self.home.now += wait
        return multiple(*self.home.claim(force=force))

    @rule(work=works, skip=st.booleans())
    def keep(self, work: queue.Work, skip: bool) -> None:
        """Also twice, also after the lease ran out."""
        if self.home.value("SELECT 1 FROM sdk_sessions WHERE id = ?", work.session_db_id) is None:
            return
        self.count += 1
        made = observing(work, f"View {self.count}")
        if skip:
            made = Observed(skipped=(Skip(event_id=work.event_ids[0], reason="routine"),))
        self.home.keep(work, made)

    @rule(work=works)
    def fail(self, work: queue.Work) -> None:
        self.home.write(lambda conn: queue.fail(conn, work, "no", self.home.now))

    @rule(wait=st.sampled_from([6_000, 31_000, LEASE + 1]))
    def time_passes(self, wait: int) -> None:
        self.home.now += wait
        self.home.write(lambda conn: queue.release_stale(conn, self.home.now))

    # What people and power cuts do --------------------------------------------------------------

    @rule(deed=DEEDS, pick=st.integers(0, 5))
    def somebody(self, deed: str, pick: int) -> None:
        if deed == "retry":
            self.home.write(queue.retry)
        elif deed == "discard":
            self.home.write(lambda conn: queue.discard(conn, None, self.home.now))
        elif deed == "delete memory":
            self.delete("observations", pick, self.delete_memory)
        else:
            self.delete("sdk_sessions", pick, self.delete_session)

    def delete(self, table: str, pick: int, fn: Any) -> None:
        ids = [row[0] for row in self.home.rows(f"SELECT id FROM {table} ORDER BY id")]
        if pick < len(ids):
            fn(ids[pick])

    def delete_memory(self, number: int) -> None:
        self.home.write(lambda conn: memories.delete(conn, DocKind.OBSERVATION, number))

    def delete_session(self, number: int) -> None:
        gone = {k for (k,) in self.home.rows(
            "SELECT key FROM events WHERE session_db_id = ?", number)}  # fmt: skip
        self.home.write(lambda conn: memories.delete_session(conn, number, self.home.now))
        self.accepted = {key: of for key, of in self.accepted.items() if key not in gone}

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


def thorough(examples: int) -> settings:
    return settings(
        max_examples=examples, stateful_step_count=40, deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )  # fmt: skip


class Many(QueueMachine):
    """The same, looked at for longer."""


TestQueue = QueueMachine.TestCase
TestQueue.settings = thorough(6)
TestQueueForLong = pytest.mark.slow(Many.TestCase)
TestQueueForLong.settings = thorough(60)
