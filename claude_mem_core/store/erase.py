"""Forgetting for good: rows go by what they say, by what a search found, by place and age.

What held the words goes with everything that hangs on it: earlier words, pins, what was
deleted and could come back, raw events. Receipts stay, without content.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import apsw
import attrs

from claude_mem_core.store import expire, fetch, text
from claude_mem_core.store.draft import title_key
from claude_mem_core.store.unsaid import ACTS, MEMORIES
from claude_mem_core.types import DocKind

OF_SESSION = "(SELECT project_id FROM sdk_sessions WHERE id = t.session_db_id)"
FOREVER_MS = 2**62


@attrs.frozen
class Words:
    """Where a table keeps what was said; `key` names a row, `at` its time."""

    columns: tuple[str, ...]
    at: str = "t.created_at_epoch"
    project: str = "t.project_id"
    key: str = "t.id"


WORDS: Mapping[str, Words] = {
    "observations": Words(
        ("text", "title", "subtitle", "facts", "narrative", "concepts", "files_read",
         "files_modified", "metadata"),
    ),
    "session_summaries": Words(
        ("request", "investigated", "learned", "completed", "next_steps", "notes",
         "files_read", "files_edited"),
    ),
    "user_prompts": Words(("prompt_text",)),
    "tool_uses": Words(("tool_input", "tool_response")),
    "events": Words(("payload",), at="t.at_ms", project=OF_SESSION),
    "pending_messages": Words(("error",), project=OF_SESSION),
    "sdk_sessions": Words(("user_prompt", "custom_title"), at="t.started_at_epoch"),
    "corrections": Words(("before",), at="t.at_ms", project=OF_SESSION),
    "advisor_calls": Words(("prompt", "advice"), project=OF_SESSION),
    "work_lists": Words(("request_id", "title", "tasks"), at="t.updated_at_epoch"),
    "given_log": Words(("what", "query"), at="t.at_ms", project=OF_SESSION),
    "context_given": Words(
        ("what",), at="t.at_ms", project=OF_SESSION, key="t.session_db_id, t.what"
    ),
}  # fmt: skip
MINE = "(?1 IS NULL OR {project} IN (SELECT value FROM json_each(?1))) AND {at} < ?2"
# What was deleted and can come back counts by its own age.
TRASHED = """
  SELECT t.id FROM corrections t WHERE t.action = 'delete' AND t.before IS NOT NULL AND {mine}
  LIMIT ?3
"""
WAITING = "SELECT t.id FROM pending_messages t WHERE {mine} LIMIT ?3"
# An event that is empty already says its host and session still.
EMPTIED = """t.payload <> json_object('kind', t.kind, 'host', t.host, 'session_id', t.session,
  'at_ms', t.at_ms) AND """
# Also what would lead to it when it is taken back: of a merge into it, its number is kept.
CHANGES_OF = """
  DELETE FROM project_changes WHERE project_id = ?1 OR json_type(before, ?2) IS NOT NULL
    OR EXISTS (SELECT 1 FROM json_each(before) e
      WHERE e.key GLOB '[0-9]*' AND e.type = 'integer' AND e.value = ?1)
"""
# Names beside the one that a project has: no memory needs them, unless its row has one.
OF_PROJECT = "(?1 IS NULL OR project_id IN (SELECT value FROM json_each(?1)))"
OTHER_NAMES = (
    f"DELETE FROM project_changes WHERE {OF_PROJECT} AND (instr(said, ?2) OR instr(before, ?2))",
    f"DELETE FROM project_labels WHERE {OF_PROJECT} AND place = '' AND instr(label, ?2)",
    f"""DELETE FROM project_names WHERE {OF_PROJECT} AND instr(said, ?2)
      AND NOT EXISTS (SELECT 1 FROM sdk_sessions s WHERE s.project = said)
      AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.project = said)
      AND NOT EXISTS (SELECT 1 FROM session_summaries u WHERE u.project = said)""",
)
LONELY_PROJECTS = """
  SELECT id FROM projects p WHERE id IN (SELECT value FROM json_each(?))
    AND NOT EXISTS (SELECT 1 FROM sdk_sessions WHERE project_id = p.id)
    AND NOT EXISTS (SELECT 1 FROM projects WHERE parent_id = p.id OR merged_into = p.id)
"""


@attrs.frozen(kw_only=True)
class Chosen:
    """What is to be forgotten; what is given has to hold at once.

    Attributes:
        texts: the spellings of one text; rows that hold one of them go.
        ids: records that a search has found.
        projects: numbers of projects; None for all of them.
        before_ms: only what is older.
    """

    texts: tuple[str, ...] = ()
    ids: Mapping[DocKind, Sequence[int]] | None = None
    projects: Sequence[int] | None = None
    before_ms: int | None = None

    @property
    def bounds(self) -> tuple[str | None, int]:
        """The first two values of every statement here."""
        among = None if self.projects is None else text.dumps(list(self.projects))
        return among, FOREVER_MS if self.before_ms is None else self.before_ms

    @property
    def age(self) -> expire.Age:
        """The same as an age, where neither text nor ids narrow it."""
        return expire.Age(self.bounds[1], self.projects, pinned=True)


@attrs.frozen
class Erased:
    """How many rows went, or would go.

    Attributes:
        memories: observations, summaries and prompts by their keys (`12`, `S3`, `P4`).
        rows: how many of each table; sessions and events of a whole age among them.
    """

    memories: tuple[str, ...] = ()
    rows: Mapping[str, int] = attrs.field(factory=dict)

    def __add__(self, other: Erased) -> Erased:
        names = {*self.rows, *other.rows}
        rows = {name: self.rows.get(name, 0) + other.rows.get(name, 0) for name in names}
        return Erased(self.memories + other.memories, rows)

    def __bool__(self) -> bool:
        return bool(self.memories or any(self.rows.values()))


def some(conn: apsw.Connection, chosen: Chosen, now: int, limit: int = 100) -> Erased:
    """Erase up to `limit` rows, in the caller's transaction; call it until nothing is left."""
    if not chosen.texts and chosen.ids is None:
        return _of_age(conn, chosen, now, limit)
    for table, keys in _found(conn, chosen, limit):
        for key in keys:
            ACTS[table](conn, key, now)
        return _told(table, keys)
    _forget_keys(conn, chosen)
    _forget_names(conn, chosen)
    return Erased()


def count(conn: apsw.Connection, chosen: Chosen) -> Erased:
    """What `some` would erase in all; nothing is written."""
    every = FOREVER_MS
    if not chosen.texts and chosen.ids is None:
        beside = {table: len(keys) for table, keys in _beside(conn, chosen, every) if keys}
        return _counted(expire.count(conn, chosen.age)) + Erased(rows=beside)
    total = Erased()
    for table, keys in _found(conn, chosen, every):
        total += _told(table, keys)
    return total


def passages(conn: apsw.Connection, chosen: Chosen, most: int = 200) -> list[str]:
    """What the memories that would go say, the longest of each, to look for it afterwards."""
    found: list[str] = []
    for table, kind in MEMORIES.items():
        keys = [key[0] for key in _memories(conn, chosen, table, kind, most)]
        columns = ", ".join(WORDS[table].columns)
        sql = f"SELECT {columns} FROM {table} WHERE id IN (SELECT value FROM json_each(?))"
        for row in fetch.rows(conn, sql, text.dumps(keys)):
            found.append(max((str(value) for value in row if value), key=len, default=""))
    return [passage[:200] for passage in found if len(passage) >= 20][:most]


def holds(conn: apsw.Connection, words: str) -> bool:
    """Whether any row still says this."""
    chosen = Chosen(texts=(words,))
    return any(True for _ in _found(conn, chosen, 1))


def drop_projects(conn: apsw.Connection, numbers: Sequence[int]) -> int:
    """Forget projects of which nothing is left, with their names and places."""
    gone = [row[0] for row in fetch.rows(conn, LONELY_PROJECTS, text.dumps(list(numbers)))]
    for number in gone:
        places = "DELETE FROM project_places WHERE project_key = (SELECT key FROM projects WHERE id = ?)"
        conn.execute(places, (number,))
        if "project_changes" in tables(conn):
            conn.execute(CHANGES_OF, (number, f'$."{number}"'))
            conn.execute("DELETE FROM project_names WHERE project_id = ?", (number,))
        conn.execute("DELETE FROM project_labels WHERE project_id = ?", (number,))
        conn.execute("DELETE FROM totals WHERE project_id = ?", (number,))
        conn.execute("DELETE FROM projects WHERE id = ?", (number,))
    return len(gone)


def _forget_keys(conn: apsw.Connection, chosen: Chosen) -> None:
    """Keys of titles that were edited by a version that left them as they had been."""
    for key in {title_key(words) for words in chosen.texts} - {""}:
        sql = "UPDATE observations SET title_key = NULL WHERE instr(title_key, ?)"
        conn.execute(sql, (key,))


def _forget_names(conn: apsw.Connection, chosen: Chosen) -> None:
    """Other names of projects, and what says that they were given; they have no age."""
    if chosen.before_ms is None and "project_changes" in tables(conn):
        for sql in OTHER_NAMES:
            conn.executemany(sql, [(chosen.bounds[0], words) for words in chosen.texts])


# Which rows ---------------------------------------------------------------------------------


def _found(
    conn: apsw.Connection, chosen: Chosen, limit: int
) -> Iterator[tuple[str, list[fetch.Row]]]:
    """The rows to go, table by table; tables without any are left out."""
    for table, kind in MEMORIES.items():
        if keys := _memories(conn, chosen, table, kind, limit):
            yield table, keys
    there = tables(conn) - set(MEMORIES) if chosen.texts else set()
    for table in WORDS:
        if table in there and (keys := _saying(conn, chosen, table, limit)):
            yield table, keys


def tables(conn: apsw.Connection) -> set[str]:
    """Which tables there are: copies may be of an older layout."""
    return {row[0] for row in fetch.rows(conn, "SELECT name FROM sqlite_schema WHERE type = 'table'")}


def _memories(
    conn: apsw.Connection, chosen: Chosen, table: str, kind: DocKind, limit: int
) -> list[fetch.Row]:
    if chosen.texts:
        return _saying(conn, chosen, table, limit)
    words = WORDS[table]
    given = "" if chosen.ids is None else "t.id IN (SELECT value FROM json_each(?4)) AND "
    sql = f"SELECT t.id FROM {table} t WHERE {given}{_mine(words)} LIMIT ?3"
    ids = () if chosen.ids is None else (text.dumps(list(chosen.ids.get(kind, ()))),)
    return fetch.rows(conn, sql, *chosen.bounds, limit, *ids)


def _saying(conn: apsw.Connection, chosen: Chosen, table: str, limit: int) -> list[fetch.Row]:
    """The rows of a table that hold one of the spellings."""
    words = WORDS[table]
    marks = range(4, 4 + len(chosen.texts))
    said = " OR ".join(f"instr(t.{name}, ?{n})" for name in words.columns for n in marks)
    full = EMPTIED if table == "events" else ""
    sql = f"SELECT {words.key} FROM {table} t WHERE {full}({said}) AND {_mine(words)} LIMIT ?3"
    return fetch.rows(conn, sql, *chosen.bounds, limit, *chosen.texts)


def _mine(words: Words) -> str:
    return MINE.format(project=words.project, at=words.at)


def _told(table: str, keys: Sequence[fetch.Row]) -> Erased:
    letters = {"observations": "", "session_summaries": "S", "user_prompts": "P"}
    if table in letters:
        return Erased(tuple(f"{letters[table]}{key[0]}" for key in keys))
    return Erased(rows={table: len(keys)})


# By age and place ---------------------------------------------------------------------------


def _of_age(conn: apsw.Connection, chosen: Chosen, now: int, limit: int) -> Erased:
    for act, keys in _beside(conn, chosen, limit):
        for key in keys:
            ACTS[act](conn, key, now)
        if keys:
            return Erased(rows={act: len(keys)})
    gone = expire.delete_some(conn, chosen.age, now, limit)
    if gone or chosen.projects is None:
        return _counted(gone)
    return Erased(rows={"projects": drop_projects(conn, chosen.projects)})


def _beside(
    conn: apsw.Connection, chosen: Chosen, limit: int
) -> Iterator[tuple[str, list[fetch.Row]]]:
    """What waits to be observed, what was deleted and could come back, and to-do lists."""
    trashed = "json_extract(t.before, '$.row.created_at_epoch')"
    for table, sql, at in (
        ("pending_messages", WAITING, "t.created_at_epoch"), ("corrections", TRASHED, trashed)
    ):  # fmt: skip
        if table not in tables(conn):
            continue
        mine = MINE.format(project=OF_SESSION, at=at)
        yield table, fetch.rows(conn, sql.replace("{mine}", mine), *chosen.bounds, limit)
    if "work_lists" in tables(conn):
        sql = f"SELECT t.id FROM work_lists t WHERE {_mine(WORDS['work_lists'])} LIMIT ?3"
        yield "work_lists", fetch.rows(conn, sql, *chosen.bounds, limit)


def _counted(found: expire.Expired) -> Erased:
    return Erased(rows={name: n for name, n in attrs.asdict(found).items() if n})
