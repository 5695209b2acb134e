"""The work queue: leases, tries, dead letters, and nothing done twice."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from claude_mem_core.store import Store, memories, queue
from claude_mem_core.types import EventKind
from tests.store_home import IDLE, LEASE, Home, observing, opened


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with opened(tmp_path / "memory.db") as home:
        yield home


def turn(home: Home, number: int, at: int, *, end: bool = True) -> None:
    home.prompt(f"prompt {home.session} {number}", at)
    home.tool(f"{home.session}-{number}", at + 1)
    if end:
        home.stop(f"answer {number}", at + 2)


def states(home: Home) -> set[str]:
    return {row[0] for row in home.rows("SELECT state FROM events WHERE kind <> 'prompt_sent'")}


def fail(home: Home, work: queue.Work, at: int = 0, error: str = "no") -> bool:
    return home.write(lambda conn: queue.fail(conn, work, error, home.now + at))


# Ready -----------------------------------------------------------------------------------


def test_a_turn_is_claimed_when_it_is_over(home: Home) -> None:
    turn(home, 1, 0, end=False)
    assert home.claim() == []
    stop = home.stop("done", 2)
    (work,) = home.claim()
    assert (work.session_db_id, work.prompt_number, work.finished, work.tries) == (1, 1, True, 0)
    assert work.event_ids == work.item_ids == (stop.event_id - 1, stop.event_id)


def test_a_failed_turn_is_over_too(home: Home) -> None:
    turn(home, 1, 0, end=False)
    home.accept(home.event(EventKind.TURN_FAILED, 2, error="overloaded"))
    assert [work.finished for work in home.claim()] == [True]


def test_a_turn_without_an_end_is_over_when_the_next_begins(home: Home) -> None:
    turn(home, 1, 0, end=False)
    turn(home, 2, 60_000, end=False)
    (work,) = home.claim()
    assert (work.prompt_number, work.finished) == (1, True)


def test_a_turn_without_an_end_is_over_when_the_session_ends(home: Home) -> None:
    turn(home, 1, 0, end=False)
    home.end(10)
    assert [work.finished for work in home.claim()] == [True]


def test_a_quiet_turn_is_taken_unfinished(home: Home) -> None:
    turn(home, 1, 0, end=False)
    assert home.claim(IDLE - 2) == []
    (work,) = home.claim(IDLE + 1)
    assert not work.finished


def test_force_takes_everything(home: Home) -> None:
    turn(home, 1, 0, end=False)
    assert [work.finished for work in home.claim(force=True)] == [False]


def test_a_straggler_of_a_summarised_turn_is_not_summarised_again(home: Home) -> None:
    turn(home, 1, 0)
    home.keep(home.claim()[0])
    turn(home, 2, 60_000, end=False)
    home.tool("late", 30_000)
    (work,) = home.claim()
    assert (work.prompt_number, work.finished) == (1, False)


def test_turns_come_in_order_and_limited(home: Home) -> None:
    for session in ("s1", "s2"):
        home.session = session
        for number in (1, 2):
            turn(home, number, number * 60_000)
    works = home.claim(limit=3)
    assert [(w.session_db_id, w.prompt_number) for w in works] == [(1, 1), (1, 2), (2, 1)]


def test_a_session_in_work_is_left_alone(home: Home) -> None:
    turn(home, 1, 0)
    assert len(home.claim()) == 1
    turn(home, 2, 60_000)
    assert home.claim(60_000) == []


def test_named_sessions_only(home: Home) -> None:
    for session in ("s1", "s2", "s3"):
        home.session = session
        turn(home, 1, 0)

    def claim(conn: object) -> list[queue.Work]:
        return queue.claim(conn, home.now, LEASE, 10, IDLE, sessions=[2, 3])  # type: ignore[arg-type]

    assert [work.session_db_id for work in home.write(claim)] == [2, 3]


def test_recorded_and_skipped_events_are_no_work(home: Home) -> None:
    home.start()
    home.prompt("p")
    home.tool("t", 1, state="skipped", reason="routine")
    assert home.claim(force=True) == []
    assert not home.store.read(queue.any_pending)


# Confirm, fail, dead letter -------------------------------------------------------------------


def test_what_is_kept_is_off_the_queue(home: Home) -> None:
    turn(home, 1, 0)
    assert home.store.read(queue.any_pending)
    home.keep(home.claim()[0])
    assert not home.store.read(queue.any_pending)
    assert home.value("SELECT count(*) FROM pending_messages") == 0
    assert states(home) == {"stored"}
    assert home.claim(force=True) == []


def test_three_failures_make_a_dead_letter(home: Home) -> None:
    turn(home, 1, 0)
    times = (0, queue.PAUSE_MS, 7 * queue.PAUSE_MS)
    dead = []
    for tries, at in enumerate(times):
        (work,) = home.claim(at)
        assert work.tries == tries
        dead.append(fail(home, work, at, f"broken {tries}"))
    assert dead == [False, False, True]
    assert home.claim(10**9, force=True) == []
    assert states(home) == {"dead"}
    account = home.verify()
    assert (account.dead, account.off) == ({"broken 2": 2}, ())


def test_a_failure_pauses_the_turn_and_its_session(home: Home) -> None:
    turn(home, 1, 0)
    (work,) = home.claim()
    turn(home, 2, 60_000)
    fail(home, work, 60_000)
    assert home.claim(60_000 + queue.PAUSE_MS - 1, force=True) == []
    works = home.claim(60_000 + queue.PAUSE_MS)
    assert [work.prompt_number for work in works] == [1, 2]


def dead_letters(home: Home) -> list[int]:
    turn(home, 1, 0)
    for at in (0, 10**6, 2 * 10**6):
        fail(home, home.claim(at)[0], at)
    return [item["id"] for item in home.store.read(lambda c: queue.items(c, 10, "failed"))]


def test_sessions_whose_work_has_to_wait_are_parked(home: Home) -> None:
    turn(home, 1, 0)
    home.session = "s2"
    turn(home, 1, 0)

    def parked(at: int) -> int:
        return home.store.read(lambda conn: queue.parked(conn, home.now + at))

    assert parked(10) == 0
    works = home.write(lambda conn: queue.claim(conn, home.now + 10, LEASE, 10, IDLE))
    assert parked(10) == 0, "in work is not parked"
    fail(home, works[0], at=20)
    assert parked(21) == 1
    assert parked(21 + queue.PAUSE_MS) == 0
    home.write(lambda conn: queue.defer(conn, works[1], "no model"))
    assert parked(21 + queue.PAUSE_MS) == 1


def test_dead_letters_are_tried_again_when_asked(home: Home) -> None:
    assert len(dead_letters(home)) == 2
    assert home.write(queue.retry) == 2
    assert states(home) == {"pending"}
    (work,) = home.claim()
    assert work.tries == 0
    home.keep(work)
    assert home.verify().off == ()


def test_named_dead_letters_only(home: Home) -> None:
    one, two = dead_letters(home)
    assert home.write(lambda conn: queue.retry(conn, [two, 999])) == 1
    rows = home.rows("SELECT id, status FROM pending_messages ORDER BY id")
    assert rows == [(one, "failed"), (two, "pending")]
    assert home.write(lambda conn: queue.retry(conn, [two])) == 0
    assert home.verify().off == ()


def test_discarded_dead_letters_leave_a_receipt(home: Home) -> None:
    dead_letters(home)
    assert home.write(lambda conn: queue.discard(conn, None, home.now)) == 2
    account = home.verify()
    assert (account.skipped, account.dead, account.off) == ({"discarded": 2}, {}, ())
    assert home.value("SELECT count(*) FROM tool_uses") == 0


# Leases ---------------------------------------------------------------------------------------


def release(home: Home, at: int) -> int:
    return home.write(lambda conn: queue.release_stale(conn, home.now + at))


def test_a_lease_runs_out(home: Home) -> None:
    turn(home, 1, 0)
    home.claim()
    assert release(home, LEASE) == 0
    assert release(home, LEASE + 1) == 2
    (work,) = home.claim(LEASE + 1)
    assert work.tries == 1


def test_three_leases_that_run_out_make_a_dead_letter(home: Home) -> None:
    turn(home, 1, 0)
    for n in range(3):
        at = n * 10 * LEASE
        assert home.claim(at)
        release(home, at + LEASE + 1)
    assert home.verify().dead == {"the lease ran out": 2}
    assert home.verify().off == ()


def test_the_slow_one_confirms_first_and_the_other_keeps_nothing(home: Home) -> None:
    turn(home, 1, 0)
    (slow,) = home.claim()
    release(home, LEASE + 1)
    (second,) = home.claim(LEASE + 1)
    assert len(home.keep(slow).observations) == 1
    lost = home.keep(second, observing(second, "Another view"))
    assert (lost.lost, lost.observations) == (True, [])
    assert home.value("SELECT count(*) FROM observations") == 1
    assert home.verify().off == ()


def test_a_failure_after_the_lease_ran_out_counts_once(home: Home) -> None:
    turn(home, 1, 0)
    (slow,) = home.claim()
    release(home, LEASE + 1)
    assert not fail(home, slow, LEASE + 2)
    (work,) = home.claim(LEASE + 2)
    assert work.tries == 1


def test_resuming_at_start_is_no_failure_and_idempotent(home: Home) -> None:
    turn(home, 1, 0)
    (before,) = home.claim()
    for _ in range(5):
        home.write(lambda conn: queue.resume(conn, home.now))
    (after,) = home.claim()
    assert after == before
    home.write(lambda conn: queue.resume(conn, home.now))
    assert home.write(lambda conn: queue.resume(conn, home.now)) == 0


def test_two_claimers_never_get_the_same(tmp_path: Path) -> None:
    """Two programs with a store each, as the worker and the processor are."""
    path = tmp_path / "memory.db"
    with opened(path) as home:
        for n in range(40):
            home.session = f"s{n}"
            turn(home, 1, 0)
        others = [Store.open(path) for _ in range(2)]

        def work_off(store: Store) -> list[tuple[int, ...]]:
            mine = []
            while True:
                works = store.write(
                    lambda conn: queue.claim(conn, home.now, LEASE, 3, IDLE)
                ).result(timeout=30)
                if not works:
                    return mine
                mine += [work.item_ids for work in works]
                for work in works:
                    store.write(
                        lambda conn, work=work: memories.keep(
                            conn, work, work.session_db_id, observing(work), home.now
                        )
                    ).result(timeout=30)

        with ThreadPoolExecutor(3) as threads:
            taken = list(threads.map(work_off, [home.store, *others]))
        for store in others:
            store.close()
        items = [item for mine in taken for ids in mine for item in ids]
        assert len(items) == len(set(items)) == 80
        assert home.value("SELECT count(*) FROM observations") == 40
        assert home.verify().off == ()


# What there is --------------------------------------------------------------------------------


def test_the_status_counts_by_session(home: Home) -> None:
    turn(home, 1, 0)
    home.session = "s2"
    turn(home, 1, 0)
    home.write(lambda conn: queue.claim(conn, home.now, LEASE, 1, IDLE))
    found = home.store.read(lambda conn: queue.status(conn, home.now + 1))
    assert (found.pending, found.processing, found.failed, found.stuck) == (2, 2, 0, 0)
    assert [(s.session_db_id, s.pending, s.processing) for s in found.sessions] == [
        (1, 0, 2), (2, 2, 0),
    ]  # fmt: skip
    later = home.store.read(lambda conn: queue.status(conn, home.now + 300_001))
    assert later.stuck == 2


def test_items_have_the_documented_names(home: Home) -> None:
    turn(home, 1, 0)
    first, second = home.store.read(lambda conn: queue.items(conn, 10))
    assert first["status"] == "pending"
    assert first["claude_session_id"] == first["content_session_id"] == "s1"
    assert (first["message_type"], second["message_type"]) == ("observation", "summarize")
    assert (first["tool_name"], first["retry_count"]) == ("Bash", 0)
    assert "payload" not in first
    one = home.store.read(lambda conn: queue.items(conn, 1, number=second["id"]))
    assert one == [second]
