"""Which memories speak of files, how these were, and which are to be verified."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import apsw
import attrs

from claude_mem_core.store import fetch, text
from claude_mem_core.store.trash import missing
from claude_mem_core.types import DocKind

FILES = 5  # of one memory
MEMORIES = 300  # newest of one project
PROJECTS = 20  # with the newest sessions
ACTIVE = f"""
  SELECT project_id FROM sdk_sessions WHERE project_id > 0
  GROUP BY project_id ORDER BY max(started_at_epoch) DESC LIMIT {PROJECTS}
"""
# Files that were changed tell more of what a memory is about than those that were read.
CITED = f"""
  SELECT o.id, f.path, coalesce(nullif(s.root, ''), s.cwd, ''), o.created_at_epoch,
    concat_ws(' ', o.title, o.subtitle, o.narrative, o.facts)
  FROM (SELECT * FROM observations WHERE project_id = ? AND superseded_by IS NULL
    ORDER BY created_at_epoch DESC, id DESC LIMIT {MEMORIES}) o
  JOIN sdk_sessions s ON s.id = o.session_db_id
  JOIN memory_files f ON f.kind = 'observation' AND f.memory_id = o.id
  WHERE f.modified = (SELECT max(modified) FROM memory_files
      WHERE kind = 'observation' AND memory_id = o.id)
"""
UNSEEN = f"{CITED} AND NOT EXISTS (SELECT 1 FROM watched w WHERE w.memory_id = o.id)"
OF_ONE = CITED.replace("project_id = ?", "id = ?")
WATCHED = f"""
  SELECT w.memory_id, w.path, coalesce(nullif(s.root, ''), s.cwd, ''), w.symbols, w.digest
  FROM (SELECT id, session_db_id FROM observations
    WHERE project_id = ? AND superseded_by IS NULL
    ORDER BY created_at_epoch DESC, id DESC LIMIT {MEMORIES}) o
  JOIN watched w ON w.memory_id = o.id JOIN sdk_sessions s ON s.id = o.session_db_id
  WHERE w.digest <> ''
"""
WATCH = "INSERT OR REPLACE INTO watched VALUES (?, ?, ?, ?)"
MARK = """
  INSERT INTO verify_marks VALUES (?, ?, ?)
  ON CONFLICT (memory_id) DO UPDATE SET reason = excluded.reason
"""


@attrs.frozen
class Cited:
    """A file that a memory speaks of, and the memory's words."""

    memory_id: int
    path: str
    root: str
    created_ms: int
    words: str


@attrs.frozen
class Watched:
    """How it was: a digest of the file, or of these symbols in it."""

    memory_id: int
    path: str
    root: str
    symbols: tuple[str, ...]
    digest: str


def active(conn: apsw.Connection) -> list[int]:
    """The projects that were worked in last."""
    return [row[0] for row in fetch.rows(conn, ACTIVE)]


def unseen(conn: apsw.Connection, project: int) -> list[Cited]:
    """Files of memories of which nothing was noted yet."""
    return list(_few(Cited(*row) for row in fetch.rows(conn, UNSEEN, project)))


def cited(conn: apsw.Connection, number: int) -> list[Cited]:
    """Files of one memory. Raises NotFound."""
    if fetch.row(conn, "SELECT 1 FROM observations WHERE id = ?", number) is None:
        raise missing(DocKind.OBSERVATION, number)
    return list(_few(Cited(*row) for row in fetch.rows(conn, OF_ONE, number)))


def watched(conn: apsw.Connection, project: int) -> list[Watched]:
    """What was noted of the memories of a project."""
    return [
        Watched(number, path, root, tuple(text.loads_list(symbols)), digest)
        for number, path, root, symbols, digest in fetch.rows(conn, WATCHED, project)
    ]


def watch(conn: apsw.Connection, noted: Iterable[Watched]) -> None:
    """Note how things are; an empty digest says that nothing can be told."""
    rows = [(one.memory_id, one.path, text.dumps(list(one.symbols)), one.digest) for one in noted]
    there = "SELECT 1 FROM observations WHERE id = ?"
    conn.executemany(WATCH, [row for row in rows if fetch.row(conn, there, row[0])])


def mark(conn: apsw.Connection, project: int, reasons: dict[int, str], now: int) -> bool:
    """Let exactly these memories of a project be marked; whether that changed anything."""
    sql = f"""SELECT v.memory_id, v.reason FROM verify_marks v
      WHERE v.memory_id IN (SELECT memory_id FROM ({WATCHED}))"""
    before: dict[int, str] = dict(fetch.rows(conn, sql, project))
    conn.executemany(MARK, [(number, reason, now) for number, reason in reasons.items()])
    gone = [(number,) for number in before if number not in reasons]
    conn.executemany("DELETE FROM verify_marks WHERE memory_id = ?", gone)
    return before != reasons


def confirm(conn: apsw.Connection, number: int, noted: Iterable[Watched]) -> None:
    """It holds as things are now."""
    forget(conn, number)
    watch(conn, noted)
    conn.execute("UPDATE feedback SET outdated = 0 WHERE memory_id = ?", (number,))
    conn.execute("DELETE FROM feedback WHERE useful = 0 AND outdated = 0")


def forget(conn: apsw.Connection, number: int) -> None:
    """Nothing is noted of it any more."""
    for table in ("watched", "verify_marks"):
        conn.execute(f"DELETE FROM {table} WHERE memory_id = ?", (number,))


def _few(rows: Iterable[Cited]) -> Iterator[Cited]:
    counts: dict[int, int] = {}
    for row in rows:
        counts[row.memory_id] = counts.get(row.memory_id, 0) + 1
        if counts[row.memory_id] <= FILES:
            yield row
