"""Session rows: made by whatever event comes first, in whatever order."""

from __future__ import annotations

import apsw
import attrs

from claude_mem_core.store import fetch, text
from claude_mem_core.store.entry import Entry
from claude_mem_core.store.projects import GENERAL
from claude_mem_core.types import EventKind, StartSource

LATER_MS = 60_000  # events this long after the end mean that the session goes on

FIND = """
  SELECT id, memory_session_id, project, project_id, root, started_at_epoch,
    completed_at_epoch, suppressed, prompt_counter, last_prompt_number, last_prompt_at_epoch
  FROM sdk_sessions WHERE platform_source = ? AND content_session_id = ?
"""
INSERT = """
  INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, project_id,
    platform_source, started_at, started_at_epoch, cwd, root)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
MOVE = "UPDATE sdk_sessions SET project = ?, project_id = ?, cwd = ?, root = ? WHERE id = ?"
PLACE = "UPDATE sdk_sessions SET cwd = coalesce(cwd, ?), root = ? WHERE id = ?"
START = "UPDATE sdk_sessions SET started_at = ?, started_at_epoch = ? WHERE id = ?"
END = """
  UPDATE sdk_sessions SET status = 'completed', completed_at = ?, completed_at_epoch = ?
  WHERE id = ?
"""
REOPEN = """
  UPDATE sdk_sessions SET status = 'active', completed_at = NULL, completed_at_epoch = NULL
  WHERE id = ?
"""
BY_ID = """
  SELECT id, platform_source, content_session_id, memory_session_id, project, project_id,
    coalesce(root, ''), coalesce(cwd, ''), started_at_epoch, completed_at_epoch, status,
    prompt_counter, custom_title, context_at_epoch
  FROM sdk_sessions WHERE id = ?
"""


@attrs.frozen
class Session:
    """A stored session. Times in milliseconds; `root` is the directory of its project."""

    id: int
    host: str
    session_id: str
    memory_session_id: str
    project: str
    project_id: int
    root: str
    cwd: str
    started_ms: int
    completed_ms: int | None
    status: str
    prompts: int
    title: str | None
    context_ms: int | None


@attrs.define
class Known:
    """What accepting an event needs to know of its session."""

    id: int
    memory_session_id: str
    project: str
    project_id: int
    root: str | None
    started_ms: int
    completed_ms: int | None
    private_ms: int
    prompts: int
    last_number: int
    last_ms: int
    new: bool = False


def get(conn: apsw.Connection, session_db_id: int) -> Session | None:
    """The session of that row."""
    row = fetch.row(conn, BY_ID, session_db_id)
    return Session(*row) if row else None


def ensure(conn: apsw.Connection, entry: Entry) -> Known | None:
    """The session of an event, made if need be, with what the event says of it.

    A skipped event makes no session, so that nothing of an excluded project is kept;
    a private prompt does, because the rest of its turn has to be known.
    """
    event = entry.event
    row = fetch.row(conn, FIND, event.host, event.session_id)
    if row is None:
        if entry.project is None or (entry.state == "skipped" and entry.reason != "private"):
            return None
        return _made(conn, entry)
    known = Known(*row)
    _settle(conn, known, entry)
    return known


def apply(conn: apsw.Connection, known: Known, entry: Entry) -> None:
    """Start and end of a session, also for a repeated report of them."""
    kind, at = entry.event.kind, entry.at_ms
    if kind is EventKind.SESSION_ENDED:
        if known.last_ms <= at + LATER_MS and at > (known.completed_ms or 0):
            conn.execute(END, (text.iso(at), at, known.id))
        return
    if known.completed_ms is None:
        return
    resumed = entry.event.source is StartSource.RESUME and at >= known.completed_ms
    begins = kind in {EventKind.SESSION_STARTED, EventKind.PROMPT_SENT}
    if resumed or (begins and at > known.completed_ms + LATER_MS):
        conn.execute(REOPEN, (known.id,))


def _made(conn: apsw.Connection, entry: Entry) -> Known:
    event, project = entry.event, entry.project
    assert project is not None
    memory_id = f"{event.host}:{event.session_id}"
    cwd, root = _where(entry)
    at = entry.at_ms
    values = (event.session_id, memory_id, project.label, project.id, event.host)
    conn.execute(INSERT, (*values, text.iso(at), at, cwd, root))
    number = conn.last_insert_rowid()
    return Known(
        number, memory_id, project.label, project.id, root, at, None, 0, 0, 0, 0, new=True
    )


def _settle(conn: apsw.Connection, known: Known, entry: Entry) -> None:
    """Late news: an earlier start, or the place of a session that began nowhere."""
    project = entry.project
    if project is None or entry.state == "skipped":
        return
    if entry.at_ms < known.started_ms:
        conn.execute(START, (text.iso(entry.at_ms), entry.at_ms, known.id))
    if known.project == GENERAL and project.kind != GENERAL:
        known.project, known.project_id = project.label, project.id
        conn.execute(MOVE, (project.label, project.id, *_where(entry), known.id))
    elif known.root is None and project.root and project.id == known.project_id:
        conn.execute(PLACE, (*_where(entry), known.id))


def _where(entry: Entry) -> tuple[str | None, str | None]:
    if entry.state == "skipped" or entry.project is None:
        return None, None
    return entry.event.cwd or None, text.safe(entry.project.root) or None
