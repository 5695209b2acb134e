"""Sessions as a list shows them, and one session turn by turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from claude_mem_core.errors import NotFound
from claude_mem_core.store import cards, fetch, text
from claude_mem_core.store.rows import shown
from claude_mem_core.types import DocKind

TITLE_CHARS = 200
WORDS_CHARS = 4_000
MOST_TURNS = 500
COLUMNS = f"""
  s.id, substr(coalesce(s.custom_title, s.user_prompt, ''), 1, {TITLE_CHARS}),
  {shown('s.project')},
  s.platform_source, s.started_at_epoch, s.completed_at_epoch, s.status,
  (SELECT count(*) FROM user_prompts p WHERE p.session_db_id = s.id),
  (SELECT count(*) FROM observations o WHERE o.session_db_id = s.id),
  (SELECT e.received_ms FROM events e WHERE e.session_db_id = s.id
    ORDER BY e.prompt_number DESC, e.id DESC LIMIT 1)
"""
NAMES = ("id", "title", "project", "host", "started_ms", "ended_ms", "status", "prompts",
         "memories", "last_ms")  # fmt: skip
PAGE = f"""
  SELECT {COLUMNS} FROM sdk_sessions s
  WHERE (s.started_at_epoch, s.id) < (?1, ?2)
    AND (?3 IS NULL OR s.project_id IN (SELECT value FROM json_each(?3)))
  ORDER BY s.started_at_epoch DESC, s.id DESC LIMIT ?4
"""
ONE = f"SELECT {COLUMNS} FROM sdk_sessions s WHERE s.id = ?"
PROMPTS = f"""
  SELECT prompt_number, substr(prompt_text, 1, {WORDS_CHARS}), created_at_epoch
  FROM user_prompts WHERE session_db_id = ? ORDER BY prompt_number LIMIT {MOST_TURNS}
"""
MADE = """
  SELECT id, coalesce(prompt_number, 0) FROM observations WHERE session_db_id = ? ORDER BY id
"""
SUMMED = """
  SELECT id, coalesce(prompt_number, 0) FROM session_summaries WHERE session_db_id = ?
  ORDER BY id
"""
GIVEN = "SELECT what, at_ms, ids FROM context_given WHERE session_db_id = ? ORDER BY at_ms DESC"
LATEST = (1 << 62, 1 << 62)


def page(
    conn: apsw.Connection, project_ids: Sequence[int] | None, limit: int,
    before: tuple[int, int] | None = None,
) -> tuple[list[dict[str, Any]], bool]:  # fmt: skip
    """The sessions that started before a key (time, id), newest first; whether more follow."""
    among = None if project_ids is None else text.dumps(list(project_ids))
    rows = fetch.rows(conn, PAGE, *(before or LATEST), among, limit + 1)
    found = [dict(zip(NAMES, row, strict=True)) for row in rows]
    return found[:limit], len(found) > limit


def session(conn: apsw.Connection, number: int) -> dict[str, Any]:
    """One session: its prompts with the memories made of each, and what it was given.

    Raises:
        NotFound: there is none of that id.
    """
    row = fetch.row(conn, ONE, number)
    if row is None:
        raise NotFound(f"Session #{number} not found")
    made: dict[int, list[cards.Key]] = {}
    for kind, sql in ((DocKind.OBSERVATION, MADE), (DocKind.SUMMARY, SUMMED)):
        for record, turn in fetch.rows(conn, sql, number):
            made.setdefault(turn, []).append((kind, record))
    said = {turn: (words, at_ms) for turn, words, at_ms in fetch.rows(conn, PROMPTS, number)}
    turns = [
        _turn(conn, turn, *said.get(turn, ("", None)), made.get(turn, []))
        for turn in sorted({*said, *made})
    ]
    return {**dict(zip(NAMES, row, strict=True)), "turns": turns, "given": _given(conn, number)}


def _turn(
    conn: apsw.Connection, number: int, words: str, at_ms: int | None, keys: list[cards.Key]
) -> dict[str, Any]:
    return {"number": number, "prompt": words, "t": at_ms, "memories": cards.cards(conn, keys)}


def _given(conn: apsw.Connection, number: int) -> list[dict[str, Any]]:
    """What the session was given at its start and before files, as far as it is still there."""
    return [
        {"what": what, "t": at_ms, "memories": cards.cards(conn, _keys(text.loads_list(ids)))}
        for what, at_ms, ids in fetch.rows(conn, GIVEN, number)
    ]


def _keys(ids: Sequence[str]) -> list[cards.Key]:
    found = []
    for name in ids:
        kind = DocKind.SUMMARY if name.startswith("S") else DocKind.OBSERVATION
        number = name.removeprefix("S")
        if number.isdigit():
            found.append((kind, int(number)))
    return found
