"""What forgetting does to one row of each table, and to what hangs on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import apsw

from claude_mem_core.store import counters, fetch, forget, text, trash
from claude_mem_core.store.journal import hide
from claude_mem_core.types import DocKind

REASON = "forgotten"
MEMORIES = {
    "observations": DocKind.OBSERVATION, "session_summaries": DocKind.SUMMARY,
    "user_prompts": DocKind.PROMPT,
}  # fmt: skip

Act = Callable[[apsw.Connection, fetch.Row, int], None]


def _memory(kind: DocKind) -> Act:
    return lambda conn, key, now: forget.delete(conn, kind, key[0])


def _tool_use(conn: apsw.Connection, key: fetch.Row, now: int) -> None:
    event = fetch.value(conn, "SELECT event_id FROM tool_uses WHERE id = ?", key[0])
    conn.execute("DELETE FROM tool_uses WHERE id = ?", (key[0],))
    if event is not None:
        _event(conn, (event,), now)


def _event(conn: apsw.Connection, key: fetch.Row, now: int) -> None:
    """Its content goes; what was still to be observed is not any more."""
    number = key[0]
    state = fetch.value(conn, "SELECT state FROM events WHERE id = ?", number)
    if state in {"pending", "dead", "skipped"}:
        hide(conn, number, REASON)
        if state != "skipped":
            counters.add(conn, f"skipped:{REASON}", now)
    else:
        forget.empty_events(conn, [number])


def _session(conn: apsw.Connection, key: fetch.Row, now: int) -> None:
    sql = "UPDATE sdk_sessions SET user_prompt = NULL, custom_title = NULL WHERE id = ?"
    conn.execute(sql, key)


def _correction(conn: apsw.Connection, key: fetch.Row, now: int) -> None:
    """What was deleted can't come back, what was edited not be taken back."""
    sql = "SELECT action, before FROM corrections WHERE id = ?"
    for action, before in fetch.rows(conn, sql, key[0]):
        if action == "delete":
            trash.forget(conn, text.loads_map(before))
    conn.execute("DELETE FROM corrections WHERE id = ?", key)


def _advice(conn: apsw.Connection, key: fetch.Row, now: int) -> None:
    conn.execute("DELETE FROM advisor_calls WHERE id = ?", key)


def _given(conn: apsw.Connection, key: fetch.Row, now: int) -> None:
    conn.execute("DELETE FROM context_given WHERE session_db_id = ? AND what = ?", key)


def _log(conn: apsw.Connection, key: fetch.Row, now: int) -> None:
    conn.execute("DELETE FROM given_log WHERE id = ?", key)


def _work_list(conn: apsw.Connection, key: fetch.Row, now: int) -> None:
    conn.execute("DELETE FROM work_lists WHERE id = ?", key)


ACTS: Mapping[str, Act] = {
    **{table: _memory(kind) for table, kind in MEMORIES.items()},
    "tool_uses": _tool_use,
    "events": _event,
    "pending_messages": _event,
    "sdk_sessions": _session,
    "corrections": _correction,
    "advisor_calls": _advice,
    "context_given": _given,
    "given_log": _log,
    "work_lists": _work_list,
}
