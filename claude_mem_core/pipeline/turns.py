"""A claimed turn with the events that have to be observed."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import attrs

from claude_mem_core.store import fetch, journal, memories, queue
from claude_mem_core.types import Batch

STATES = "SELECT id, state FROM events WHERE session_db_id = ? AND prompt_number = ?"


@attrs.frozen
class Turn:
    """What was loaded for one piece of work."""

    work: queue.Work
    batch: Batch


def whole(conn: apsw.Connection, work: queue.Work) -> Turn:
    """The turn from its beginning: one that goes on after its end is observed again."""
    session, number = work.session_db_id, work.prompt_number
    about = memories.session(conn, session)
    batch = Batch(
        session_db_id=session,
        project=about.project,
        events=journal.load_events(conn, session, number),
        # With those of this very turn: one that goes on after its end replaces them.
        earlier=memories.of_session(conn, session, before_prompt=number + 1),
        finished=work.finished,
        root=about.root,
        project_id=about.project_id,
    )
    return Turn(work, batch)


def unseen(conn: apsw.Connection, work: queue.Work, *, more: bool) -> Turn:
    """The turn without what a model has seen already.

    `more`: with everything else that waits, beside the events of `work`.
    """
    turn = whole(conn, work)
    rows = fetch.rows(conn, STATES, work.session_db_id, work.prompt_number)
    state = {number: text for number, text in rows}
    kept = {"recorded", "pending"} if more else {"recorded"}
    ours = set(work.event_ids)
    events = [e for e in turn.batch.events if e.id in ours or state.get(e.id) in kept]
    earlier = [o for o in turn.batch.earlier if not o.metadata.get("meanwhile")]
    return Turn(work, attrs.evolve(turn.batch, events=events, earlier=earlier))


def by_session(works: Sequence[queue.Work]) -> list[list[queue.Work]]:
    """The turns of each session, in order."""
    groups: dict[int, list[queue.Work]] = {}
    for work in sorted(works, key=lambda w: (w.session_db_id, w.prompt_number)):
        groups.setdefault(work.session_db_id, []).append(work)
    return list(groups.values())
