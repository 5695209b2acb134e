"""Which turn an event belongs to, whatever order events arrive in.

By the host's id of the prompt when there is one, else by time: the newest prompt that
was sent before the event. A wholly private prompt begins a turn too, one whose events
are skipped.
"""

from __future__ import annotations

import apsw
import attrs

from claude_mem_core.store import fetch, text
from claude_mem_core.store.entry import Entry
from claude_mem_core.store.sessions import Known

SAME_MS = 10_000  # equal prompts within this are one, where the host gives no ids
RECENT = 200  # events looked at when a prompt arrives after them

BY_ID = "SELECT prompt_number FROM user_prompts WHERE session_db_id = ? AND prompt_id = ?"
PRIVATE_BY_ID = "SELECT 1 FROM private_turns WHERE session_db_id = ? AND prompt_id = ?"
BY_TIME = """
  SELECT prompt_number, created_at_epoch FROM user_prompts
  WHERE session_db_id = ? AND created_at_epoch <= ?
  ORDER BY created_at_epoch DESC, prompt_number DESC LIMIT 1
"""
PRIVATE_BY_TIME = """
  SELECT at_ms, prompt_id FROM private_turns WHERE session_db_id = ? AND at_ms <= ?
  ORDER BY at_ms DESC LIMIT 1
"""
SAME = """
  SELECT event_id FROM (
    SELECT event_id, prompt_text, created_at_epoch FROM user_prompts
    WHERE session_db_id = ? ORDER BY prompt_number DESC LIMIT 5)
  WHERE prompt_text = ? AND abs(created_at_epoch - ?) < ? AND event_id IS NOT NULL
"""
INSERT = """
  INSERT INTO user_prompts (session_db_id, content_session_id, prompt_number, prompt_text,
    created_at, created_at_epoch, project, project_id, platform_source, prompt_id, event_id)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
COUNTED = """
  UPDATE sdk_sessions SET prompt_counter = ?1, user_prompt = coalesce(user_prompt, ?2),
    last_prompt_number = CASE WHEN ?3 >= last_prompt_at_epoch THEN ?1
      ELSE last_prompt_number END,
    last_prompt_at_epoch = max(last_prompt_at_epoch, ?3)
  WHERE id = ?4
"""
FOLLOWING = """
  SELECT id, at_ms, json_extract(payload, '$.prompt_id') FROM (
    SELECT id, at_ms, kind, state, payload FROM events WHERE session_db_id = ?1
    ORDER BY prompt_number DESC, id DESC LIMIT ?2)
  WHERE at_ms >= ?3 AND state IN ('pending', 'recorded') AND kind IN (
    'tool_used', 'tool_failed', 'file_edited', 'turn_ended', 'turn_failed',
    'subagent_started', 'subagent_ended')
"""
GIVE = """
  UPDATE events SET prompt_number = ?1 WHERE id = ?2 AND NOT EXISTS (
    SELECT 1 FROM pending_messages WHERE id = ?2 AND status <> 'pending')
"""
MARK_PRIVATE = """
  UPDATE sdk_sessions SET suppressed = max(suppressed, ?) WHERE id = ?
"""


@attrs.frozen
class Turn:
    """The turn of an event: number of its prompt, and whether that was private."""

    number: int
    private: bool = False


def of(conn: apsw.Connection, session: Known, entry: Entry) -> Turn:
    """The turn that an event other than a prompt belongs to.

    One that comes before its own prompt, but after a private one, counts as private,
    unless the host's ids tell the two apart.
    """
    named = entry.event.prompt_id
    return (named and _by_id(conn, session, named)) or at(conn, session, entry.at_ms, named)


def at(conn: apsw.Connection, session: Known, at_ms: int, named: str | None = None) -> Turn:
    """The turn that was on at a time."""
    if at_ms >= session.last_ms:
        number, since = session.last_number, session.last_ms
    else:
        number, since = fetch.row(conn, BY_TIME, session.id, at_ms) or (0, 0)
    if not session.private_ms:
        return Turn(number)
    private_since, private_id = fetch.row(conn, PRIVATE_BY_TIME, session.id, at_ms) or (-1, None)
    another = named is not None and private_id is not None and private_id != named
    return Turn(number, private=private_since >= since and not another)


def same_prompt(conn: apsw.Connection, session: Known, entry: Entry) -> int | None:
    """The event of an equal prompt that was sent within seconds of this one."""
    event = entry.event
    if event.prompt_id is not None or not session.prompts or entry.state == "skipped":
        return None
    words = text.cut(text.safe(event.prompt or "")).text
    number = fetch.value(conn, SAME, session.id, words, entry.at_ms, SAME_MS)
    return None if number is None else int(number)


def add_prompt(
    conn: apsw.Connection, session: Known, entry: Entry, number: int, event_id: int
) -> None:
    """Store a prompt under its number, and give it the events that overtook it."""
    event, at_ms = entry.event, entry.at_ms
    words = text.cut(text.safe(event.prompt or "")).text
    project = entry.project
    label, project_id = (project.label, project.id) if project else ("", 0)
    conn.execute(INSERT, (
        session.id, event.session_id, number, words, text.iso(at_ms), at_ms,
        label, project_id, event.host, text.maybe(event.prompt_id), event_id,
    ))  # fmt: skip
    conn.execute(COUNTED, (number, words, at_ms, session.id))
    session.prompts = number
    if at_ms >= session.last_ms:
        session.last_number, session.last_ms = number, at_ms
    _give(conn, session, entry)


def add_private(conn: apsw.Connection, session: Known, entry: Entry) -> list[int]:
    """Note a wholly private prompt; return the events that overtook it."""
    values = (session.id, entry.at_ms, text.maybe(entry.event.prompt_id))
    conn.execute("INSERT OR IGNORE INTO private_turns VALUES (?, ?, ?)", values)
    conn.execute(MARK_PRIVATE, (entry.at_ms, session.id))
    session.private_ms = max(session.private_ms, entry.at_ms)
    following = _following(conn, session, entry)
    return [number for number, at_ms in following if at(conn, session, at_ms).private]


def _by_id(conn: apsw.Connection, session: Known, prompt_id: str) -> Turn | None:
    values = (session.id, text.safe(prompt_id))
    number = fetch.value(conn, BY_ID, *values)
    if number is not None:
        return Turn(number)
    if session.private_ms and fetch.row(conn, PRIVATE_BY_ID, *values):
        return Turn(0, private=True)
    return None


def _following(
    conn: apsw.Connection, session: Known, entry: Entry
) -> list[tuple[int, int]]:
    """Events already here that came after the prompt and name no other one."""
    own = (None, entry.event.prompt_id)
    rows = fetch.rows(conn, FOLLOWING, session.id, RECENT, entry.at_ms)
    return [(number, at_ms) for number, at_ms, prompt_id in rows if prompt_id in own]


def _give(conn: apsw.Connection, session: Known, entry: Entry) -> None:
    for event_id, at_ms in _following(conn, session, entry):
        values = (at(conn, session, at_ms).number, event_id)
        conn.execute(GIVE, values)
        if not conn.changes():
            continue
        conn.execute("UPDATE tool_uses SET prompt_number = ? WHERE event_id = ?", values)
        conn.execute("UPDATE pending_messages SET prompt_number = ? WHERE id = ?", values)
