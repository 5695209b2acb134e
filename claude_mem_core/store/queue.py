"""The work queue: turns whose events wait to be observed.

An item stands for one journal event and has its id; items are claimed by turn. A claim is a lease. The
result confirms it in the transaction that keeps the result (`memories.keep`). Three
failures make a dead letter, which stays until somebody retries or discards it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw
import attrs

from claude_mem_core.store import counters, fetch
from claude_mem_core.store.journal import hide
from claude_mem_core.store.waiting import (
    QueueStatus,
    SessionStatus,
    items,
    parked,
    processed_since,
    status,
)

__all__ = [
    "QueueStatus", "SessionStatus", "Work", "any_pending", "any_waiting", "claim", "defer", "discard", "fail",
    "items", "parked", "processed_since", "release_stale", "renew", "resume", "retry", "status",
]  # fmt: skip

TRIES = 3
PAUSE_MS = 5_000  # after the first failure; six times that after the second
# `not_before` of what waits for a model: no time of a clock is as large.
FOR_MODEL = 9_000_000_000_000_000
# Parts of the queue, as bounds of `not_before`.
FRESH, DEFERRED, ALL = (0, FOR_MODEL), (FOR_MODEL, FOR_MODEL + 1), (0, FOR_MODEL + 1)

TURNS = """
  SELECT q.session_db_id, q.prompt_number, max(q.status),
    max(q.not_before_epoch), max(q.created_at_epoch), max(q.message_type),
    s.completed_at_epoch, s.prompt_counter
  FROM pending_messages q JOIN sdk_sessions s ON s.id = q.session_db_id
  WHERE q.status IN ('pending', 'processing') AND q.not_before_epoch >= ?1
    AND q.not_before_epoch < ?2
  GROUP BY q.session_db_id, q.prompt_number
  ORDER BY q.session_db_id, q.prompt_number
"""
LEASE = """
  UPDATE pending_messages SET status = 'processing', lease_until_epoch = ?1,
    started_processing_at_epoch = ?2
  WHERE session_db_id = ?3 AND prompt_number = ?4 AND status = 'pending'
    AND not_before_epoch >= ?5 AND not_before_epoch < ?6
  RETURNING id, retry_count, not_before_epoch
"""
RENEW = "UPDATE pending_messages SET lease_until_epoch = ? WHERE id = ? AND status = 'processing'"
DEFER = """
  UPDATE pending_messages SET status = 'pending', lease_until_epoch = NULL,
    started_processing_at_epoch = NULL, not_before_epoch = ?1, error = ?2
  WHERE id = ?3 AND status = 'processing'
"""
HAS_SUMMARY = """
  SELECT 1 FROM session_summaries WHERE session_db_id = ? AND prompt_number = ?
"""
EXPIRED = """
  SELECT id FROM pending_messages WHERE status = 'processing' AND lease_until_epoch < ?
"""
FAILED = """
  UPDATE pending_messages SET retry_count = retry_count + 1, error = ?2,
    lease_until_epoch = NULL, started_processing_at_epoch = NULL,
    status = CASE WHEN retry_count + 1 >= ?3 THEN 'failed' ELSE 'pending' END,
    failed_at_epoch = CASE WHEN retry_count + 1 >= ?3 THEN ?4 END,
    not_before_epoch = ?4 + CASE WHEN retry_count = 0 THEN ?5 ELSE 6 * ?5 END
  WHERE id = ?1 AND status = 'processing'
  RETURNING id, status
"""
RESUME = """
  UPDATE pending_messages SET status = 'pending', lease_until_epoch = NULL,
    started_processing_at_epoch = NULL
  WHERE status = 'processing'
"""
RETRY = """
  UPDATE pending_messages SET status = 'pending', retry_count = 0, not_before_epoch = 0,
    failed_at_epoch = NULL, lease_until_epoch = NULL, started_processing_at_epoch = NULL
  WHERE id = ? AND status = 'failed' RETURNING id
"""


@attrs.frozen(kw_only=True)
class Work:
    """One claimed turn, or the part of it that waited.

    Attributes:
        finished: the turn is over, so a summary is due.
        tries: how often it failed before.
        deferred: what rules made of it is there already, until a model has seen it.
    """

    session_db_id: int
    prompt_number: int
    item_ids: tuple[int, ...]
    event_ids: tuple[int, ...]
    tries: int = 0
    finished: bool = True
    deferred: bool = False


@attrs.frozen
class Waiting:
    """A turn that waits, as the claim sees it."""

    session_db_id: int
    prompt_number: int
    highest: str
    not_before: int
    newest_ms: int
    message_type: str
    completed_ms: int | None
    prompts: int

    @property
    def ended(self) -> bool:
        """The host said that the turn is over. ("summarize" sorts last)"""
        return self.message_type == "summarize"

    @property
    def left(self) -> bool:
        """The session went on or ended, so nothing more will come."""
        return self.completed_ms is not None or self.prompts > self.prompt_number

    def held(self, now: int) -> bool:
        """It is being worked on, or pauses after a failure; so does its session."""
        return self.highest != "pending" or now < self.not_before < FOR_MODEL

    def ready(self, now: int, idle_ms: int, force: bool) -> bool:
        """Nothing more is to come, as far as one can know."""
        return force or self.not_before >= FOR_MODEL or self.ended or self.left or self.newest_ms <= now - idle_ms


def any_pending(conn: apsw.Connection) -> bool:
    """Whether anything waits or is being worked on; costs next to nothing."""
    sql = "SELECT 1 FROM pending_messages WHERE status IN ('pending', 'processing') LIMIT 1"
    return fetch.row(conn, sql) is not None


def any_waiting(conn: apsw.Connection, part: tuple[int, int]) -> bool:
    """Whether anything of that part of the queue waits or is being worked on."""
    sql = """SELECT 1 FROM pending_messages WHERE status IN ('pending', 'processing')
      AND not_before_epoch >= ? AND not_before_epoch < ? LIMIT 1"""
    return fetch.row(conn, sql, *part) is not None


def claim(
    conn: apsw.Connection, now: int, lease_ms: int, limit: int, idle_ms: int,
    *, force: bool = False, sessions: Iterable[int] | None = None,
    part: tuple[int, int] = ALL, without: Iterable[int] = (),
) -> list[Work]:  # fmt: skip
    """Lease up to `limit` turns that are ready, oldest session first, in turn order.

    A turn is ready when the host said that it is over, a later prompt came, the session
    ended, or nothing came for `idle_ms`; with `force` always. A session of which a turn is
    being worked on, or pauses after a failure, is left alone: its turns stay in order.
    `part` looks at what is new (FRESH) or at what waits for a model (DEFERRED) only;
    sessions in `without` are left alone.
    """
    turns = [Waiting(*row) for row in fetch.rows(conn, TURNS, *part)]
    held = {turn.session_db_id for turn in turns if turn.held(now)} | set(without)
    wanted = None if sessions is None else set(sessions)
    ready = [
        turn
        for turn in turns
        if turn.session_db_id not in held
        and (wanted is None or turn.session_db_id in wanted)
        and turn.ready(now, idle_ms, force)
    ]
    return [_leased(conn, turn, now, lease_ms, part) for turn in ready[:limit]]


def renew(conn: apsw.Connection, work: Work, until: int) -> None:
    """Make a claim last longer: whoever holds it is still at work."""
    conn.executemany(RENEW, [(until, item) for item in work.item_ids])


def defer(conn: apsw.Connection, work: Work, reason: str | None = None) -> None:
    """Give a claim back until a model can take it; that is no failure."""
    conn.executemany(DEFER, [(FOR_MODEL, reason, item) for item in work.item_ids])


def fail(
    conn: apsw.Connection, work: Work, error: str, now: int, pause_ms: int = PAUSE_MS
) -> bool:
    """Give a claim back after a failure; True when that was the last try."""
    dead = [_failed(conn, item, error, now, pause_ms) for item in work.item_ids]
    return any(dead)


def release_stale(conn: apsw.Connection, now: int) -> int:
    """Take back leases that ran out, which counts as a failure; return how many."""
    expired = [row[0] for row in fetch.rows(conn, EXPIRED, now)]
    for item in expired:
        _failed(conn, item, "the lease ran out", now, pause_ms=0)
    return len(expired)


def resume(conn: apsw.Connection, now: int) -> int:
    """At start, put what a former worker held back into the queue; no failure."""
    conn.execute(RESUME)
    return conn.changes()


def retry(conn: apsw.Connection, ids: Sequence[int] | None = None) -> int:
    """Queue dead letters again, all of them or those items; return how many."""
    revived = 0
    for item in _failed_ids(conn, ids):
        for (event_id,) in fetch.rows(conn, RETRY, item):
            _set_event(conn, event_id, "pending", None)
            revived += 1
    return revived


def discard(
    conn: apsw.Connection, ids: Sequence[int] | None, now: int, reason: str = "discarded"
) -> int:
    """Give up dead letters for good; their events become skipped ones."""
    given_up = _failed_ids(conn, ids)
    for item in given_up:
        hide(conn, item, reason)
    counters.add(conn, f"skipped:{reason}", now, len(given_up))
    return len(given_up)


def _leased(
    conn: apsw.Connection, turn: Waiting, now: int, lease_ms: int, part: tuple[int, int]
) -> Work:
    values = (now + lease_ms, now, turn.session_db_id, turn.prompt_number, *part)
    rows = sorted(fetch.rows(conn, LEASE, *values))
    ids = tuple(row[0] for row in rows)
    return Work(
        session_db_id=turn.session_db_id,
        prompt_number=turn.prompt_number,
        item_ids=ids,
        event_ids=ids,
        tries=max(row[1] for row in rows),
        finished=turn.ended or (turn.left and not _summarised(conn, turn)),
        deferred=any(row[2] >= FOR_MODEL for row in rows),
    )


def _summarised(conn: apsw.Connection, turn: Waiting) -> bool:
    found = fetch.row(conn, HAS_SUMMARY, turn.session_db_id, turn.prompt_number)
    return found is not None


def _failed(conn: apsw.Connection, item: int, error: str, now: int, pause_ms: int) -> bool:
    for event_id, state in fetch.rows(conn, FAILED, item, error, TRIES, now, pause_ms):
        if state == "failed":
            _set_event(conn, event_id, "dead", error)
            counters.add(conn, "dead", now)
            return True
    return False


def _set_event(conn: apsw.Connection, event_id: int, state: str, reason: str | None) -> None:
    sql = "UPDATE events SET state = ?, reason = ? WHERE id = ? AND state IN ('pending', 'dead')"
    conn.execute(sql, (state, reason, event_id))


def _failed_ids(conn: apsw.Connection, ids: Sequence[int] | None) -> list[int]:
    sql = "SELECT id FROM pending_messages WHERE status = 'failed' ORDER BY id"
    dead = [row[0] for row in fetch.rows(conn, sql)]
    return dead if ids is None else [item for item in dead if item in set(ids)]
