"""The proof of the promise: every accepted event is accounted for."""

from __future__ import annotations

import apsw
import attrs

from claude_mem_core.store import counters, fetch

STATES = "SELECT state, coalesce(reason, ''), count(*) FROM events GROUP BY state, reason"

# Each says what must not be, and how many rows of it there are.
CHECKS: tuple[tuple[str, str], ...] = (
    (
        "{n} pending events have no work item",
        """SELECT count(*) FROM events e WHERE state = 'pending' AND NOT EXISTS (
             SELECT 1 FROM pending_messages q
             WHERE q.id = e.id AND q.status IN ('pending', 'processing'))""",
    ),
    (
        "{n} dead events have no dead letter",
        """SELECT count(*) FROM events e WHERE state = 'dead' AND NOT EXISTS (
             SELECT 1 FROM pending_messages q WHERE q.id = e.id AND q.status = 'failed')""",
    ),
    (
        "{n} work items have no event that waits for them",
        """SELECT count(*) FROM pending_messages q WHERE NOT EXISTS (
             SELECT 1 FROM events e WHERE e.id = q.id AND e.state =
               CASE q.status WHEN 'failed' THEN 'dead' ELSE 'pending' END)""",
    ),
    (
        "{n} skipped or dead events have no reason",
        """SELECT count(*) FROM events
           WHERE state IN ('skipped', 'dead') AND coalesce(reason, '') = ''""",
    ),
    (
        "{n} skipped events still have content",
        """SELECT count(*) FROM events
           WHERE state = 'skipped' AND (payload IS NOT NULL OR cwd IS NOT NULL)""",
    ),
    (
        "{n} events belong to a session that is not there",
        """SELECT count(*) FROM events e WHERE session_db_id IS NOT NULL AND NOT EXISTS (
             SELECT 1 FROM sdk_sessions s WHERE s.id = e.session_db_id)""",
    ),
    (
        "{n} memories point to an event that is not there",
        """SELECT count(DISTINCT kind || memory_id) FROM evidence v WHERE NOT EXISTS (
             SELECT 1 FROM events e WHERE e.id = v.event_id)""",
    ),
    (
        "{n} pieces of evidence have no memory",
        """SELECT count(*) FROM evidence v WHERE NOT EXISTS (
             SELECT 1 FROM observations o WHERE v.kind = 'observation' AND o.id = v.memory_id)
           AND NOT EXISTS (
             SELECT 1 FROM session_summaries s WHERE v.kind = 'summary' AND s.id = v.memory_id)""",
    ),
    (
        "{n} tool uses point to an observation that is not there",
        """SELECT count(*) FROM tool_uses t WHERE observation_id IS NOT NULL AND NOT EXISTS (
             SELECT 1 FROM observations o WHERE o.id = t.observation_id)""",
    ),
    (
        "{n} prompts have a number twice",
        """SELECT count(*) FROM (SELECT 1 FROM user_prompts
             GROUP BY session_db_id, prompt_number HAVING count(*) > 1)""",
    ),
)


@attrs.frozen(kw_only=True)
class Accounting:
    """Where every accepted event ended.

    Attributes:
        accepted: events that were ever accepted, less those deleted since.
        off: what does not add up, in sentences; empty when all is well.
    """

    accepted: int
    stored: int
    recorded: int
    pending: int
    skipped: dict[str, int]
    dead: dict[str, int]
    off: tuple[str, ...] = ()

    @property
    def found(self) -> int:
        """Events in the journal."""
        ended = sum(self.skipped.values()) + sum(self.dead.values())
        return self.stored + self.recorded + self.pending + ended


def verify(conn: apsw.Connection) -> Accounting:
    """Count every event by where it ended, and look for what can't be."""
    by_state: dict[str, dict[str, int]] = {}
    for state, reason, n in fetch.rows(conn, STATES):
        by_state.setdefault(state, {})[reason] = n
    known = counters.total(conn, "accepted") - counters.total(conn, "removed")
    account = Accounting(
        accepted=known,
        stored=sum(by_state.get("stored", {}).values()),
        recorded=sum(by_state.get("recorded", {}).values()),
        pending=sum(by_state.get("pending", {}).values()),
        skipped=by_state.get("skipped", {}),
        dead=by_state.get("dead", {}),
    )
    return attrs.evolve(account, off=(*_sum(account), *_wrong(conn)))


def _sum(account: Accounting) -> list[str]:
    missing = account.accepted - account.found
    if missing > 0:
        return [f"{missing} accepted events are not in the journal"]
    return [f"{-missing} events were never counted as accepted"] if missing else []


def _wrong(conn: apsw.Connection) -> list[str]:
    found = ((form, int(fetch.value(conn, sql))) for form, sql in CHECKS)
    return [form.format(n=n) for form, n in found if n]
