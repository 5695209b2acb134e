"""The journal: every accepted event, once, whatever is delivered how often in what order."""

from __future__ import annotations

import logging

import apsw
import attrs

from claude_mem_core.errors import InvalidInput
from claude_mem_core.store import counters, fetch, payload, sessions, text, tools, turns
from claude_mem_core.store.entry import Entry, Receipt
from claude_mem_core.types import EventKind, StoredEvent, Trust

__all__ = ["Entry", "Receipt", "accept", "fill_answer", "load_events"]

log = logging.getLogger(__name__)

DAY_MS = 86_400_000
DELIVERIES_KEPT_MS = 7 * DAY_MS
PRUNE_EVERY, PRUNE_MOST = 256, 320
ENDS = frozenset({EventKind.TURN_ENDED, EventKind.TURN_FAILED})
# These say nothing that a private turn would have to hide.
FRAME = frozenset({EventKind.SESSION_STARTED, EventKind.SESSION_ENDED, EventKind.COMPACTING})

COLUMNS = "id, coalesce(session_db_id, 0), prompt_number, state, reason"
KNOWN = f"""
  SELECT {COLUMNS} FROM events WHERE id = coalesce(
    (SELECT event_id FROM deliveries WHERE key = ?1),
    (SELECT id FROM events WHERE key = ?2))
"""
BY_ID = f"SELECT {COLUMNS} FROM events WHERE id = ?"
INSERT = """
  INSERT INTO events (key, host, kind, session, session_db_id, prompt_number, agent_id,
    at_ms, received_ms, cwd, payload, trust, state, reason)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
QUEUE = """
  INSERT INTO pending_messages (id, session_db_id, content_session_id, message_type,
    tool_use_id, prompt_number, agent_type, agent_id, created_at_epoch)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
PRUNE = """
  DELETE FROM deliveries WHERE received_ms < ?1
    AND key IN (SELECT key FROM deliveries ORDER BY key LIMIT ?2)
"""
HIDE = """
  UPDATE events SET state = 'skipped', reason = ?, payload = NULL, cwd = NULL WHERE id = ?
"""
LOAD = """
  SELECT e.id, e.key, e.payload, e.prompt_number, e.trust, p.prompt_text
  FROM events e LEFT JOIN user_prompts p ON p.event_id = e.id
    AND p.session_db_id = e.session_db_id AND p.prompt_number = e.prompt_number
  WHERE e.session_db_id = ?1 AND e.payload IS NOT NULL
    AND (?2 IS NULL OR e.prompt_number = ?2)
  ORDER BY e.prompt_number, e.kind <> 'prompt_sent', e.kind IN ('turn_ended', 'turn_failed'), e.at_ms, e.id
"""


def accept(conn: apsw.Connection, entry: Entry) -> Receipt:
    """Put an event into the journal with everything that hangs on it.

    One that is known already, by its delivery or by its key, adds only what was missing.
    """
    entry = entry.safe()
    known = _receipt(conn, KNOWN, entry.delivery_key, entry.event_key)
    if known is not None:
        return _repeated(conn, entry, known)
    session = sessions.ensure(conn, entry)
    entry, number = _placed(conn, session, entry)
    if session is not None and entry.event.kind is EventKind.PROMPT_SENT:
        same = _receipt(conn, BY_ID, turns.same_prompt(conn, session, entry))
        if same is not None:
            return _repeated(conn, entry, same)
    return _accepted(conn, session, entry, number)


def load_events(
    conn: apsw.Connection, session_db_id: int, prompt_number: int | None = None
) -> list[StoredEvent]:
    """Events of one turn: its prompt, then the others as they happened, its end last.

    Without a number, those of the whole session, turn after turn. Skipped events are left
    out, nothing of them was kept; so are those that can't be read any more.
    """
    found = []
    for row in fetch.rows(conn, LOAD, session_db_id, prompt_number):
        try:
            found.append(_stored(conn, *row))
        except InvalidInput as error:  # one bad row must not hold up its turn
            log.warning("event %s can't be read: %s", row[0], error)
    return found


def fill_answer(conn: apsw.Connection, event_id: int, answer: str) -> bool:
    """Give a stored event the final answer it lacks; False when it has one."""
    kept = fetch.value(conn, "SELECT payload FROM events WHERE id = ?", event_id)
    if kept is None:
        return False
    event = payload.unpack(kept)
    if event.answer:
        return False
    filled = payload.pack(attrs.evolve(event, answer=answer))
    conn.execute("UPDATE events SET payload = ? WHERE id = ?", (filled, event_id))
    return True


def _receipt(conn: apsw.Connection, sql: str, *keys: str | int | None) -> Receipt | None:
    row = fetch.row(conn, sql, *keys)
    if row is None:
        return None
    number, session, prompt, state, reason = row
    return Receipt(
        event_id=number, session_db_id=session, prompt_number=prompt, state=state,
        reason=reason, duplicate=True,
    )  # fmt: skip


def _repeated(conn: apsw.Connection, entry: Entry, known: Receipt) -> Receipt:
    """Answer a repeated event, after filling what its first report left empty."""
    counters.add(conn, "duplicate", entry.now_ms)
    _delivered(conn, entry, known.event_id)
    if known.state == "skipped" or entry.state == "skipped":
        return known
    session = sessions.ensure(conn, entry)
    if session is None or session.id != known.session_db_id:
        return known
    sessions.apply(conn, session, entry)
    if payload.has_tool_row(entry.event):
        tools.add(conn, session, entry, known.event_id, known.prompt_number)
    if entry.event.answer:
        fill_answer(conn, known.event_id, entry.event.answer)
    return known


def _placed(
    conn: apsw.Connection, session: sessions.Known | None, entry: Entry
) -> tuple[Entry, int]:
    """The number of the event's turn; an event of a private turn becomes a skipped one."""
    if session is None:
        return entry, 0
    if entry.event.kind is EventKind.PROMPT_SENT:
        return entry, session.prompts + 1 if entry.state != "skipped" else session.last_number
    turn = turns.of(conn, session, entry)
    if turn.private and entry.event.kind not in FRAME and entry.state != "skipped":
        entry = attrs.evolve(entry, state="skipped", reason="private")
    return entry, turn.number


def _accepted(
    conn: apsw.Connection, session: sessions.Known | None, entry: Entry, number: int
) -> Receipt:
    event_id = _insert(conn, session, entry, number)
    _delivered(conn, entry, event_id)
    _count(conn, entry)
    if session is not None:
        _hang(conn, session, entry, event_id, number)
    return Receipt(
        event_id=event_id, session_db_id=session.id if session else 0, prompt_number=number,
        state=entry.state, reason=entry.reason, new_session=bool(session and session.new),
    )  # fmt: skip


def _hang(
    conn: apsw.Connection, session: sessions.Known, entry: Entry, event_id: int, number: int
) -> None:
    """Everything beside the event's own row."""
    event = entry.event
    sessions.apply(conn, session, entry)
    if entry.state == "skipped":
        if entry.reason == "private" and event.kind is EventKind.PROMPT_SENT:
            for follower in turns.add_private(conn, session, entry):
                hide(conn, follower, "private")
        return
    if payload.has_tool_row(event):
        tools.add(conn, session, entry, event_id, number)
    if entry.state == "pending":
        _enqueue(conn, session, entry, event_id, number)
    if event.kind is EventKind.PROMPT_SENT:
        turns.add_prompt(conn, session, entry, number, event_id)


def hide(conn: apsw.Connection, event_id: int, reason: str) -> None:
    """Turn an event into a skipped one: its content goes, its receipt stays."""
    conn.execute("DELETE FROM tool_uses WHERE event_id = ?", (event_id,))
    conn.execute("DELETE FROM pending_messages WHERE id = ?", (event_id,))
    conn.execute(HIDE, (reason, event_id))


def _insert(
    conn: apsw.Connection, session: sessions.Known | None, entry: Entry, number: int
) -> int:
    event, kept = entry.event, entry.state != "skipped"
    conn.execute(INSERT, (
        entry.event_key, event.host, event.kind.value, event.session_id,
        session.id if session else None, number, text.maybe(event.agent_id), entry.at_ms,
        entry.now_ms, (event.cwd or None) if kept else None,
        payload.pack(event) if kept else None, entry.trust.value, entry.state, entry.reason,
    ))  # fmt: skip
    return conn.last_insert_rowid()


def _delivered(conn: apsw.Connection, entry: Entry, event_id: int) -> None:
    if not entry.delivery_key:
        return
    values = (entry.delivery_key, event_id, entry.now_ms)
    conn.execute("INSERT OR IGNORE INTO deliveries VALUES (?, ?, ?)", values)
    if event_id % PRUNE_EVERY == 0:
        conn.execute(PRUNE, (entry.now_ms - DELIVERIES_KEPT_MS, PRUNE_MOST))


def _count(conn: apsw.Connection, entry: Entry) -> None:
    counters.add(conn, "accepted", entry.now_ms)
    if entry.state == "skipped":
        counters.add(conn, f"skipped:{entry.reason}", entry.now_ms)


def _enqueue(
    conn: apsw.Connection, session: sessions.Known, entry: Entry, event_id: int, number: int
) -> None:
    event = entry.event
    conn.execute(QUEUE, (
        event_id, session.id, event.session_id,
        "summarize" if event.kind in ENDS else "observation",
        text.safe(event.tool.id) if event.tool else None, number,
        text.maybe(event.agent_type), text.maybe(event.agent_id), entry.now_ms,
    ))  # fmt: skip


def _stored(
    conn: apsw.Connection, event_id: int, key: str, kept: str, number: int, trust: str,
    prompt: str | None,
) -> StoredEvent:  # fmt: skip
    event = payload.unpack(kept)
    if payload.has_tool_row(event):
        event = tools.joined(conn, event, key)
    if prompt is not None:
        event = attrs.evolve(event, prompt=prompt)
    return StoredEvent(id=event_id, event=event, prompt_number=number, trust=Trust(trust))
