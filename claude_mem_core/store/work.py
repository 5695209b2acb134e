"""What agents were asked to do and how far it is, as the records say it.

One record for each session that was asked something. Its state is what is recorded, not a
guess at what runs: an agent that asks something at the end of its turn needs an answer, a
turn that ended is ready to be looked at, and a session without news for hours has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from claude_mem_core.errors import NotFound
from claude_mem_core.store import cards, fetch, text
from claude_mem_core.store.rows import shown
from claude_mem_core.types import DocKind

QUIET_MS = 6 * 3_600_000
TITLE_CHARS = 200
ANSWER_CHARS = 6_000
ASK_CHARS = 600
STATES = ("needs", "ready", "doing", "quiet", "checked")
PAGE = f"""
  SELECT s.id, substr(coalesce(s.custom_title, s.user_prompt, ''), 1, {TITLE_CHARS}),
  {shown('s.project')},
    s.platform_source, s.started_at_epoch, s.status, c.summary_id, c.at_ms
  FROM sdk_sessions s LEFT JOIN work_checks c ON c.session_db_id = s.id
  WHERE s.started_at_epoch >= ?1 AND s.user_prompt IS NOT NULL AND s.user_prompt <> ''
    AND (?2 IS NULL OR s.project_id IN (SELECT value FROM json_each(?2)))
  ORDER BY s.started_at_epoch DESC LIMIT ?3
"""
ONE = PAGE.replace("s.started_at_epoch >= ?1 AND", "s.id = ?1 AND")
SUMMED = """
  SELECT id, request, completed, learned, next_steps, created_at_epoch FROM session_summaries
  WHERE session_db_id = ? ORDER BY prompt_number DESC, id DESC LIMIT 20
"""
NEWEST = """
  SELECT kind, at_ms, prompt_number FROM events
  WHERE session_db_id = ? AND kind NOT IN ('session_ended', 'session_started')
  ORDER BY prompt_number DESC, id DESC LIMIT 1
"""
ANSWER = f"""
  SELECT substr(json_extract(payload, '$.answer'), -{ANSWER_CHARS}) FROM events
  WHERE session_db_id = ? AND prompt_number = ? AND kind = 'turn_ended' AND payload IS NOT NULL
  ORDER BY id DESC LIMIT 1
"""
CHECK = """
  INSERT INTO work_checks VALUES (?1, ?2, ?3)
  ON CONFLICT DO UPDATE SET summary_id = ?2, at_ms = ?3
"""


def page(
    conn: apsw.Connection, project_ids: Sequence[int] | None, since_ms: int, limit: int, now: int
) -> list[dict[str, Any]]:
    """The records of sessions that began since a time, newest first."""
    among = None if project_ids is None else text.dumps(list(project_ids))
    return [_record(conn, row, now) for row in fetch.rows(conn, PAGE, since_ms, among, limit)]


def one(conn: apsw.Connection, number: int, now: int) -> dict[str, Any]:
    """One record with its memories.

    Raises:
        NotFound: there is no session of that id, or it was asked nothing.
    """
    row = fetch.row(conn, ONE, number, None, 1)
    if row is None:
        raise NotFound(f"Session #{number} not found")
    sql = "SELECT id FROM observations WHERE session_db_id = ? ORDER BY id DESC LIMIT 20"
    keys = [(DocKind.OBSERVATION, found[0]) for found in fetch.rows(conn, sql, number)]
    return {**_record(conn, row, now), "memories": cards.cards(conn, keys)}


def check(conn: apsw.Connection, number: int, version: int, now: int) -> None:
    """Somebody has looked at a result; work that comes later brings the record back.

    Raises:
        NotFound: there is no session of that id.
    """
    if fetch.row(conn, "SELECT 1 FROM sdk_sessions WHERE id = ?", number) is None:
        raise NotFound(f"Session #{number} not found")
    conn.execute(CHECK, (number, version, now))


def uncheck(conn: apsw.Connection, number: int) -> None:
    """Nobody has looked at it after all."""
    conn.execute("DELETE FROM work_checks WHERE session_db_id = ?", (number,))


def _record(conn: apsw.Connection, row: fetch.Row, now: int) -> dict[str, Any]:
    number, title, project, host, started, status, checked, checked_ms = row
    summaries = fetch.rows(conn, SUMMED, number)
    kind, at_ms, turn = fetch.row(conn, NEWEST, number) or ("", started, 0)
    over = kind in {"turn_ended", "turn_failed"} or status != "active"
    ask = question(str(fetch.value(conn, ANSWER, number, turn) or "")) if over else ""
    newest = summaries[0] if summaries else (0, title, "", "", "", at_ms)
    version = newest[0]
    seen = checked is not None and checked >= version and (checked_ms or 0) >= at_ms
    return {
        "id": number, "title": title, "project": project, "host": host, "started_ms": started,
        "last_ms": max(at_ms, newest[5]), "version": version, "ask": ask,
        "state": _state(seen, over, ask, now - at_ms),
        "result": newest[2] or newest[3] or "", "next": newest[4] or "",
        "request": newest[1] or title, "done": [s[2] for s in summaries[1:] if s[2]],
    }  # fmt: skip


def _state(seen: bool, over: bool, ask: str, silent_ms: int) -> str:
    if seen:
        return "checked"
    if ask:
        return "needs"
    if over:
        return "ready"
    return "quiet" if silent_ms > QUIET_MS else "doing"


def question(answer: str) -> str:
    """What an answer asks in its last lines; empty when it asks nothing."""
    lines = [line.strip() for line in answer.strip().splitlines() if line.strip()]
    for line in reversed(lines[-3:]):
        if line.rstrip("*_`\"') ").endswith(("?", "\uff1f")):
            return line[-ASK_CHARS:]
    return ""
