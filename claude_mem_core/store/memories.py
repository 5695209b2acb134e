"""Memories: keeping what an observer made, in one transaction with its receipts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw
import attrs

from claude_mem_core.errors import NotFound
from claude_mem_core.store import counters, fetch, queue, rows, sessions, text
from claude_mem_core.store.draft import Made, evidence_of, keep_observation, keep_summary
from claude_mem_core.store.forget import delete, delete_session, give_way
from claude_mem_core.store.projects import ProjectRef
from claude_mem_core.store.queue import Work
from claude_mem_core.store.sessions import Session
from claude_mem_core.types import (
    DocKind,
    Draft,
    Observation,
    Observed,
    Prompt,
    Skip,
    Summary,
    Trust,
)

__all__ = [
    "Kept", "delete", "delete_session", "keep", "keep_meanwhile", "observation", "observations",
    "of_session", "prompt", "prompts", "save_manual", "session", "summaries", "summary",
]  # fmt: skip

TABLES = {
    DocKind.OBSERVATION: ("observations", rows.OBSERVATION, rows.observation),
    DocKind.SUMMARY: ("session_summaries", rows.SUMMARY, rows.summary),
    DocKind.PROMPT: ("user_prompts", rows.PROMPT, rows.prompt),
}
OF_SESSION = f"""
  SELECT {rows.OBSERVATION} FROM observations
  WHERE session_db_id = ? AND superseded_by IS NULL
    AND (?2 IS NULL OR coalesce(prompt_number, 0) < ?2)
  ORDER BY id DESC LIMIT ?3
"""
SUPERSEDE_PARTS = """
  UPDATE observations SET superseded_by = ?1
  WHERE session_db_id = ?2 AND coalesce(prompt_number, 0) = ?3 AND superseded_by IS NULL
    AND id NOT IN (SELECT value FROM json_each(?4))
    AND json_valid(metadata) AND json_extract(metadata, '$.partial')
"""
# What rules made of a turn until a model has seen it, but for what a person has touched.
MEANWHILE = """
  SELECT id FROM observations o WHERE session_db_id = ? AND coalesce(prompt_number, 0) = ?
    AND json_valid(metadata) AND json_extract(metadata, '$.meanwhile')
    AND NOT EXISTS (SELECT 1 FROM corrections c WHERE c.kind = 'observation'
      AND c.record_id = o.id AND c.undone_ms IS NULL)
"""
MEANWHILE_SUMMARY = """
  SELECT id FROM session_summaries WHERE session_db_id = ? AND coalesce(prompt_number, 0) = ?
    AND generated_by_model = 'builtin'
"""
SKIP = """
  UPDATE events SET state = 'skipped', reason = ?, payload = NULL, cwd = NULL
  WHERE id = ? AND session_db_id = ? AND state IN ('pending', 'dead')
"""
STORED = """
  UPDATE events SET state = 'stored', reason = NULL
  WHERE id = ? AND state IN ('pending', 'dead')
"""
MANUAL = """
  INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, project_id,
    platform_source, started_at, started_at_epoch, completed_at, completed_at_epoch, status,
    custom_title)
  VALUES (?1, ?1, ?2, ?3, 'manual', ?4, ?5, ?4, ?5, 'completed', 'Saved by hand')
  ON CONFLICT DO NOTHING
"""


@attrs.frozen
class Kept:
    """What was kept. `lost`: somebody else had confirmed the work, so nothing was."""

    observations: list[Observation] = attrs.field(factory=list)
    summary: Summary | None = None
    lost: bool = False


def keep(
    conn: apsw.Connection, work: Work | None, session_db_id: int, observed: Observed, now: int
) -> Kept:
    """Keep what an observer made of `work`, write the receipts, take the work off the queue.

    All or nothing. When the lease had run out and another observer was faster, nothing is
    kept, so that no turn is remembered twice.

    Raises:
        NotFound: the session is gone.
    """
    if work is not None and not _confirmed(conn, work):
        return Kept(lost=True)
    about = session(conn, session_db_id)
    if work is not None and work.deferred:
        _meanwhile_gives_way(conn, work, observed)
    number = work.prompt_number if work else None
    all_events = work.event_ids if work else ()
    made = _made(conn, about, observed, number, all_events, now)
    _receipts(conn, session_db_id, all_events, observed.skipped, now)
    return made


def keep_meanwhile(
    conn: apsw.Connection, work: Work, session_db_id: int, observed: Observed, reason: str | None,
    now: int,
) -> Kept:  # fmt: skip
    """Keep what rules made of `work` until a model takes it; the work waits for that.

    Raises:
        NotFound: the session is gone.
    """
    about = session(conn, session_db_id)
    _meanwhile_gives_way(conn, work, observed)
    drafts = tuple(
        attrs.evolve(draft, metadata={**draft.metadata, "meanwhile": True})
        for draft in observed.observations
    )
    kept = _made(
        conn, about, attrs.evolve(observed, observations=drafts), work.prompt_number,
        work.event_ids, now,
    )  # fmt: skip
    queue.defer(conn, work, reason)
    return kept


def keep_told(conn: apsw.Connection, work: Work, observed: Observed, now: int) -> Kept:
    """Keep what was made of events that never were in the queue, with their receipts.

    Raises:
        NotFound: the session is gone.
    """
    about = session(conn, work.session_db_id)
    made = _made(conn, about, observed, work.prompt_number, work.event_ids, now)
    _receipts(conn, work.session_db_id, work.event_ids, observed.skipped, now)
    return made


def _made(
    conn: apsw.Connection, about: Session, observed: Observed, number: int | None,
    all_events: Sequence[int], now: int,
) -> Kept:  # fmt: skip
    made = [
        keep_observation(conn, _at_home(conn, draft, about, number, all_events, now))
        for draft in observed.observations
    ]
    _supersede_parts(conn, about, number, made)
    summary_id = None
    if observed.summary is not None:
        source = evidence_of(conn, about, observed.summary.events or all_events)
        summary_id = keep_summary(conn, about, observed.summary, source, number, now)
    return Kept(observations(conn, made), summary(conn, summary_id) if summary_id else None)


def save_manual(
    conn: apsw.Connection, title: str, words: str, project: ProjectRef, trust: Trust, now: int,
    metadata: dict[str, Any] | None = None,
) -> Observation:  # fmt: skip
    """Keep a memory that somebody wrote; the same one again only counts up."""
    name = f"manual:{project.id}"
    conn.execute(MANUAL, (name, project.label, project.id, text.iso(now), now))
    sql = "SELECT id FROM sdk_sessions WHERE platform_source = 'manual' AND content_session_id = ?"
    about = session(conn, int(fetch.value(conn, sql, name)))
    draft = Draft(
        type="discovery", title=title, narrative=words, model="", trust=trust,
        metadata=metadata or {},
    )  # fmt: skip
    made = keep_observation(conn, Made(draft, about, evidence_of(conn, about, ()), None, now))
    return observation(conn, made)


def observation(conn: apsw.Connection, number: int) -> Observation:
    """The observation of that id.

    Raises:
        NotFound: there is none.
    """
    return _one(conn, DocKind.OBSERVATION, number)  # type: ignore[no-any-return]


def observations(conn: apsw.Connection, ids: Iterable[int]) -> list[Observation]:
    """The observations of those ids, in that order; missing ones are left out."""
    return _many(conn, DocKind.OBSERVATION, ids)


def summary(conn: apsw.Connection, number: int) -> Summary:
    """The summary of that id. Raises NotFound."""
    return _one(conn, DocKind.SUMMARY, number)  # type: ignore[no-any-return]


def summaries(conn: apsw.Connection, ids: Iterable[int]) -> list[Summary]:
    """The summaries of those ids, in that order; missing ones are left out."""
    return _many(conn, DocKind.SUMMARY, ids)


def prompt(conn: apsw.Connection, number: int) -> Prompt:
    """The prompt of that id. Raises NotFound."""
    return _one(conn, DocKind.PROMPT, number)  # type: ignore[no-any-return]


def prompts(conn: apsw.Connection, ids: Iterable[int]) -> list[Prompt]:
    """The prompts of those ids, in that order; missing ones are left out."""
    return _many(conn, DocKind.PROMPT, ids)


def session(conn: apsw.Connection, number: int) -> Session:
    """The session of that row. Raises NotFound."""
    found = sessions.get(conn, number)
    if found is None:
        raise NotFound(f"Session #{number} not found")
    return found


def of_session(
    conn: apsw.Connection, session_db_id: int, before_prompt: int | None = None, limit: int = 200
) -> list[Observation]:
    """The newest observations of a session that still hold, oldest first."""
    found = fetch.rows(conn, OF_SESSION, session_db_id, before_prompt, limit)
    return [rows.observation(row) for row in reversed(found)]


def _confirmed(conn: apsw.Connection, work: Work) -> bool:
    """Take the work's items off the queue; False when none of them is there any more."""
    taken = 0
    for item in work.item_ids:
        conn.execute("DELETE FROM pending_messages WHERE id = ?", (item,))
        taken += conn.changes()
    return taken > 0


def _at_home(
    conn: apsw.Connection, draft: Draft, about: Session, number: int | None,
    all_events: Sequence[int], now: int,
) -> Made:  # fmt: skip
    return Made(draft, about, evidence_of(conn, about, draft.events or all_events), number, now)


def _supersede_parts(
    conn: apsw.Connection, about: Session, number: int | None, made: list[int]
) -> None:
    """What was made of a part of the turn gives way to what was made of more of it."""
    if made and number is not None:
        conn.execute(SUPERSEDE_PARTS, (made[0], about.id, number, text.dumps(made)))


def _meanwhile_gives_way(conn: apsw.Connection, work: Work, observed: Observed) -> None:
    turn = (work.session_db_id, work.prompt_number)
    for (number,) in fetch.rows(conn, MEANWHILE, *turn):
        give_way(conn, DocKind.OBSERVATION, number)
    if observed.summary is None:
        return
    for (number,) in fetch.rows(conn, MEANWHILE_SUMMARY, *turn):
        give_way(conn, DocKind.SUMMARY, number)


def _receipts(
    conn: apsw.Connection, session_db_id: int, all_events: Sequence[int],
    skipped: Iterable[Skip], now: int,
) -> None:  # fmt: skip
    ours = set(all_events)
    for skip in skipped:
        if skip.event_id not in ours:
            continue
        conn.execute(SKIP, (text.safe(skip.reason), skip.event_id, session_db_id))
        if conn.changes():
            counters.add(conn, f"skipped:{skip.reason}", now)
    conn.executemany(STORED, [(number,) for number in all_events])


def _one(conn: apsw.Connection, kind: DocKind, number: int) -> Any:
    table, columns, made = TABLES[kind]
    row = fetch.row(conn, f"SELECT {columns} FROM {table} WHERE id = ?", number)
    if row is not None:
        return made(row)
    name = {"summary": "Session"}.get(kind.value, kind.value.capitalize())
    raise NotFound(f"{name} #{number} not found")


def _many(conn: apsw.Connection, kind: DocKind, ids: Iterable[int]) -> list[Any]:
    table, columns, made = TABLES[kind]
    wanted = list(ids)
    sql = f"""SELECT {columns} FROM {table}
      WHERE id IN (SELECT value FROM json_each(?))"""
    found = {row[0]: made(row) for row in fetch.rows(conn, sql, text.dumps(wanted))}
    return [found[number] for number in wanted if number in found]
