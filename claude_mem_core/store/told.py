"""Events that were told aside from the queue: which turns wait, and what is made of them."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import attrs

from claude_mem_core.store import fetch, memories, text
from claude_mem_core.store.queue import Work
from claude_mem_core.types import Observed
from claude_mem_core.types.retelling import FROM

WAITING = """
  SELECT e.session_db_id, e.prompt_number, json_group_array(e.id) FROM events e
  JOIN sdk_sessions s ON s.id = e.session_db_id
  WHERE s.platform_source = ? AND s.content_session_id = ? AND e.state = 'recorded'
    AND e.kind IN (SELECT value FROM json_each(?)) AND e.payload IS NOT NULL
  GROUP BY e.session_db_id, e.prompt_number ORDER BY e.session_db_id, e.prompt_number
"""
TAKE = """
  UPDATE events SET state = 'pending' WHERE state = 'recorded' AND session_db_id = ?
    AND id IN (SELECT value FROM json_each(?))
"""
MADE = """
  SELECT count(*) FROM observations WHERE session_db_id = ? AND superseded_by IS NULL
"""


# Any frame of a session that a hook reported: those are few, and every session has one.
HOOKED = """
  SELECT 1 FROM sdk_sessions s JOIN events e ON e.session_db_id = s.id
  WHERE s.platform_source = ? AND s.content_session_id = ?
    AND e.kind IN ('session_started', 'prompt_sent', 'turn_ended', 'session_ended')
    AND coalesce(json_extract(e.payload, '$.host_event'), '') <> ? LIMIT 1
"""


def hooked(conn: apsw.Connection, host: str, session_id: str) -> bool:
    """Whether hooks reported of a session."""
    return fetch.row(conn, HOOKED, host, session_id, FROM) is not None


def waiting(
    conn: apsw.Connection, host: str, session_id: str, kinds: Sequence[str]
) -> list[Work]:
    """The turns of a session with events of those kinds that nobody has observed."""
    found = fetch.rows(conn, WAITING, host, session_id, text.dumps(list(kinds)))
    return [
        Work(session_db_id=row[0], prompt_number=row[1], item_ids=(),
             event_ids=tuple(map(int, text.loads_list(row[2]))))
        for row in found
    ]  # fmt: skip


def keep(
    conn: apsw.Connection, work: Work, observed: Observed, now: int, most: int
) -> int:
    """Keep what was made of a turn; how many observations. Somebody was faster: none.

    A session that has `most` observations gets no more of them, summaries only.

    Raises:
        NotFound: the session is gone.
    """
    conn.execute(TAKE, (work.session_db_id, text.dumps(list(work.event_ids))))
    if not conn.changes():
        return 0
    room = max(0, most - int(fetch.value(conn, MADE, work.session_db_id)))
    observed = attrs.evolve(observed, observations=observed.observations[:room])
    return len(memories.keep_told(conn, work, observed, now).observations)
