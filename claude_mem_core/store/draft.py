"""One draft becomes one row, with its evidence, its files and what it supersedes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

import apsw
import attrs

from claude_mem_core.store import fetch, text
from claude_mem_core.store.sessions import Session
from claude_mem_core.types import Draft, SummaryDraft, Trust

ORDER = (Trust.FOREIGN, Trust.WORK, Trust.USER)

EVENTS = """
  SELECT id, at_ms, trust FROM events
  WHERE session_db_id = ? AND id IN (SELECT value FROM json_each(?)) ORDER BY id
"""
INSERT = """
  INSERT INTO observations (memory_session_id, project, type, title, subtitle, facts,
    narrative, concepts, files_read, files_modified, prompt_number, discovery_tokens,
    content_hash, created_at, created_at_epoch, generated_by_model, agent_type, agent_id,
    metadata, title_key, project_id, session_db_id, platform_source, trust)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
SAME = """
  SELECT id, trust FROM observations WHERE memory_session_id = ? AND content_hash = ?
"""
AGAIN = """
  UPDATE observations SET occurrence_count = occurrence_count + 1, metadata = ?,
    trust = ?, superseded_by = iif(superseded_by = 0, 0, NULL)
  WHERE id = ?
"""
SUMMARY = """
  INSERT INTO session_summaries (memory_session_id, project, request, investigated, learned,
    completed, next_steps, notes, files_read, files_edited, prompt_number, discovery_tokens,
    created_at, created_at_epoch, generated_by_model, project_id, session_db_id,
    platform_source, trust)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
FILE = "INSERT OR IGNORE INTO memory_files VALUES (?, ?, ?, ?, ?, ?, ?)"
LINK = "UPDATE tool_uses SET observation_id = ? WHERE event_id = ? AND observation_id IS NULL"
SUPERSEDES = """
  UPDATE observations SET superseded_by = ?1
  WHERE id = ?2 AND id <> ?1 AND project_id = ?3 AND superseded_by IS NULL
"""
REPLACED = """
  UPDATE session_summaries SET superseded_by = ?1
  WHERE session_db_id = ?2 AND prompt_number IS ?3 AND id <> ?1 AND superseded_by IS NULL
"""


@attrs.frozen
class Evidence:
    """The journal events a memory was made from: ids, the newest time, lowest trust."""

    ids: tuple[int, ...]
    at_ms: int | None
    trust: Trust


@attrs.frozen
class Made:
    """A draft with what surrounds it."""

    draft: Draft
    session: Session
    evidence: Evidence
    prompt_number: int | None
    now: int


def evidence_of(conn: apsw.Connection, session: Session, ids: Sequence[int]) -> Evidence:
    """What the journal knows of those events; ids that are not the session's are dropped."""
    found = fetch.rows(conn, EVENTS, session.id, text.dumps(list(ids)))
    return Evidence(
        ids=tuple(row[0] for row in found),
        at_ms=max((row[1] for row in found), default=None),
        trust=lowest(Trust(row[2]) for row in found),
    )


def lowest(classes: Iterable[Trust]) -> Trust:
    """The lowest of several trust classes; of none, the highest."""
    return min(classes, key=ORDER.index, default=Trust.USER)


def keep_observation(conn: apsw.Connection, made: Made) -> int:
    """Insert an observation and what hangs on it; return its id.

    The same words in the same session are the same observation: its evidence grows.
    """
    draft, session = made.draft, made.session
    trust = lowest([draft.trust, made.evidence.trust])
    hashed = content_hash(draft)
    metadata = text.dumps(dict(draft.metadata)) if draft.metadata else None
    row = fetch.row(conn, SAME, session.memory_session_id, hashed)
    if row is None:
        number = _insert(conn, made, hashed, metadata, trust)
    else:
        number = int(row[0])
        conn.execute(AGAIN, (metadata, lowest([trust, Trust(row[1])]).value, number))
    _hang(conn, made, number)
    return number


def keep_summary(
    conn: apsw.Connection, session: Session, draft: SummaryDraft, evidence: Evidence,
    prompt_number: int | None, now: int,
) -> int:  # fmt: skip
    """Insert a summary and what hangs on it; an earlier one of the turn gives way to it."""
    prompt = draft.prompt_number if draft.prompt_number is not None else prompt_number
    at_ms = min(evidence.at_ms or now, now)
    conn.execute(SUMMARY, (
        session.memory_session_id, session.project, *_words(draft),
        _json(draft.files_read), _json(draft.files_edited), prompt, draft.tokens,
        text.iso(at_ms), at_ms, draft.model, session.project_id, session.id, session.host,
        lowest([draft.trust, evidence.trust]).value,
    ))  # fmt: skip
    number = conn.last_insert_rowid()
    conn.execute(REPLACED, (number, session.id, prompt))
    _cite(conn, "summary", number, evidence)
    pairs = [(path, 0) for path in draft.files_read] + [(path, 1) for path in draft.files_edited]
    _files(conn, "summary", number, session, at_ms, pairs)
    return number


def content_hash(draft: Draft) -> str:
    """What makes two observations of a session the same one: their words."""
    return text.hashed((draft.type, draft.title, draft.narrative, *draft.facts))


def title_key(title: str) -> str:
    """A title as compared for likeness: lower case, words only."""
    return " ".join("".join(c if c.isalnum() else " " for c in title.casefold()).split())


def _insert(
    conn: apsw.Connection, made: Made, hashed: str, metadata: str | None, trust: Trust
) -> int:
    draft, session = made.draft, made.session
    at_ms = _time(made)
    title = text.safe(draft.title)
    prompt = draft.prompt_number if draft.prompt_number is not None else made.prompt_number
    conn.execute(INSERT, (
        session.memory_session_id, session.project, text.safe(draft.type), title,
        text.safe(draft.subtitle), _json(draft.facts), text.safe(draft.narrative),
        _json(draft.concepts), _json(draft.files_read), _json(draft.files_modified), prompt,
        draft.tokens, hashed, text.iso(at_ms), at_ms, draft.model,
        text.maybe(draft.agent_type), text.maybe(draft.agent_id), metadata, title_key(title),
        session.project_id, session.id, session.host, trust.value,
    ))  # fmt: skip
    return conn.last_insert_rowid()


def _hang(conn: apsw.Connection, made: Made, number: int) -> None:
    draft, session = made.draft, made.session
    _cite(conn, "observation", number, made.evidence)
    conn.executemany(LINK, [(number, event_id) for event_id in made.evidence.ids])
    pairs = [(path, 0) for path in draft.files_read] + [(p, 1) for p in draft.files_modified]
    _files(conn, "observation", number, session, _time(made), pairs)
    replaced = [(number, old, session.project_id) for old in draft.supersedes]
    conn.executemany(SUPERSEDES, replaced)


def _time(made: Made) -> int:
    """When it happened, which is when its newest evidence did."""
    return min(made.evidence.at_ms or made.now, made.now)


def _cite(conn: apsw.Connection, kind: str, number: int, evidence: Evidence) -> None:
    sql = "INSERT OR IGNORE INTO evidence VALUES (?, ?, ?)"
    conn.executemany(sql, [(kind, number, event_id) for event_id in evidence.ids])


def _files(
    conn: apsw.Connection, kind: str, number: int, session: Session, at_ms: int,
    pairs: Iterable[tuple[str, int]],
) -> None:  # fmt: skip
    conn.executemany(FILE, [
        (path, kind, number, session.project_id, modified, at_ms, file_name(path))
        for path, modified in ((text.safe(path), modified) for path, modified in pairs)
    ])  # fmt: skip


def file_name(path: str) -> str:
    """Last part of a path, by which files are looked up."""
    return PurePosixPath(path.replace("\\", "/")).name


def _words(draft: SummaryDraft) -> tuple[str, ...]:
    parts = (
        draft.request, draft.investigated, draft.learned, draft.completed, draft.next_steps,
        draft.notes,
    )  # fmt: skip
    return tuple(map(text.safe, parts))


def _json(values: Sequence[str]) -> str:
    return text.dumps(list(values))
