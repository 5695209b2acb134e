"""Keeps the word index up to date: follows the change log, heals and rebuilds.

All of this runs on the writing connection, in small pieces, each in a transaction of
its own. What stands in the tables decides, not what the log says happened to it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import resources

import apsw

from claude_mem_core.recall import words
from claude_mem_core.recall.documents import KINDS, Document, documents, rowid_of
from claude_mem_core.recall.units import quoted
from claude_mem_core.store import fetch, meta
from claude_mem_core.types import DocKind

READER = "keyword"
VERSION = "1"  # of the way text is prepared; a change makes the index anew
FAR_BEHIND = 200_000  # changes
_VERSION_KEY = "index.keyword.version"
_BACKFILL_KEY = "index.keyword.backfill"

TABLES = {
    DocKind.OBSERVATION: "observations",
    DocKind.SUMMARY: "session_summaries",
    DocKind.PROMPT: "user_prompts",
}
_DROP = """
  DROP VIEW IF EXISTS observations_fts;
  DROP VIEW IF EXISTS session_summaries_fts;
  DROP VIEW IF EXISTS user_prompts_fts;
  DROP TABLE IF EXISTS memory_words_trigram;
  DROP TABLE IF EXISTS memory_words;
  DROP TABLE IF EXISTS memory_index;
"""
_SETTINGS = """
  CREATE TABLE IF NOT EXISTS {0}_config(k PRIMARY KEY, v) WITHOUT ROWID;
  INSERT OR REPLACE INTO {0}_config VALUES ('version', 4);
  DROP TABLE {0};
"""
_INSERT = """
  INSERT OR REPLACE INTO memory_index
    (rowid, title, subtitle, narrative, facts, concepts, files, idents, scope)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def feed(conn: apsw.Connection, limit: int) -> int:
    """Take up to `limit` changes into the index; return how many were taken.

    0 means that the index is up to date.
    """
    position = _position(conn)
    sql = "SELECT seq, kind, record_id FROM changes WHERE seq > ? ORDER BY seq LIMIT ?"
    rows = fetch.rows(conn, sql, position, limit)
    if rows:
        _take(conn, {(DocKind(kind), record_id) for _, kind, record_id in rows})
        _set_position(conn, rows[-1][0])
        _trim(conn)
    return len(rows) + _backfill(conn, limit - len(rows))


def rebuild(conn: apsw.Connection) -> int:
    """Make the whole index anew from the tables; return how many records it holds."""
    remake(conn)
    done = 0
    while taken := feed(conn, 1000):
        done += taken
    tidy(conn)
    return done


def tidy(conn: apsw.Connection) -> None:
    """Leave nothing of deleted records in the index; one segment for each part of it.

    Takes seconds for a large store.
    """
    sql = "SELECT 1 FROM memory_index WHERE memory_index MATCH ? LIMIT 1"
    unused = [
        row
        for row in fetch.rows(conn, "SELECT id, word FROM memory_words")
        if fetch.value(conn, sql, quoted(row[1])) is None
    ]
    gone = "INSERT INTO memory_words_trigram (memory_words_trigram, rowid, word)"
    conn.executemany(f"{gone} VALUES ('delete', ?, ?)", unused)
    conn.executemany("DELETE FROM memory_words WHERE id = ?", [(row[0],) for row in unused])
    for table in ("memory_index", "memory_words_trigram"):
        conn.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")


def remake(conn: apsw.Connection) -> None:
    """Throw the index away and begin it anew; `feed` then fills it from the tables."""
    _drop(conn)
    sql = resources.files("claude_mem_core.store") / "index.sql"
    conn.execute(sql.read_text(encoding="utf-8"))
    _set_position(conn, _newest(conn))
    meta.put(conn, _VERSION_KEY, VERSION)
    meta.put(conn, _BACKFILL_KEY, json.dumps([0, 0]))


def _drop(conn: apsw.Connection) -> None:
    for statement in _DROP.split(";")[:-1]:
        try:
            conn.execute(statement)
        except apsw.SQLError:
            # FTS5 can't even drop a table whose settings are gone: give it new ones.
            conn.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
            try:
                conn.execute(_SETTINGS.format(statement.split()[-1]))
            finally:
                conn.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)


def ready(conn: apsw.Connection) -> bool:
    """Whether the index is there, of this version, and has missed nothing.

    A store that was just made has neither position nor version: that is ready too.
    """
    if not _tables_there(conn) or meta.get(conn, _VERSION_KEY) not in {VERSION, None}:
        return False
    position = _stored_position(conn)
    if position is None:
        return _oldest(conn) <= 1
    return position + 1 >= _oldest(conn) and _holds_newest(conn, position)


def _holds_newest(conn: apsw.Connection, position: int) -> bool:
    """Whether the newest record of each kind is found; a hollow index finds nothing."""
    if position < _newest(conn) or _backfill_at(conn)[0] < len(KINDS):
        return True
    sql = "SELECT 1 FROM memory_index WHERE memory_index MATCH ? AND rowid = ?"
    for kind, table in TABLES.items():
        newest = f"SELECT id, project_id FROM {table} ORDER BY id DESC LIMIT 1"
        for record_id, project_id in fetch.rows(conn, newest):
            token = quoted(words.scope("p", project_id))
            if fetch.value(conn, sql, token, rowid_of(kind, record_id)) is None:
                return False
    return True


def pending(conn: apsw.Connection) -> int:
    """How many records the index has yet to take, at most."""
    behind = _newest(conn) - (_stored_position(conn) or 0)
    kind_number, after = _backfill_at(conn)
    if kind_number < len(KINDS):
        for number in range(kind_number, len(KINDS)):
            newest = fetch.value(conn, f"SELECT max(id) FROM {TABLES[KINDS[number]]}") or 0
            behind += max(0, newest - (after if number == kind_number else 0))
    return max(0, behind)


def _position(conn: apsw.Connection) -> int:
    position = _stored_position(conn)
    if position is None:
        meta.put(conn, _VERSION_KEY, VERSION)
        _set_position(conn, 0)
    return position or 0


def _stored_position(conn: apsw.Connection) -> int | None:
    seq = fetch.value(conn, "SELECT seq FROM change_readers WHERE name = ?", READER)
    return None if seq is None else int(seq)


def _set_position(conn: apsw.Connection, seq: int) -> None:
    conn.execute("INSERT OR REPLACE INTO change_readers VALUES (?, ?)", (READER, seq))


def _newest(conn: apsw.Connection) -> int:
    """Number of the newest change that ever was, also when it has been trimmed."""
    return fetch.value(conn, "SELECT seq FROM sqlite_sequence WHERE name = 'changes'") or 0


def _oldest(conn: apsw.Connection) -> int:
    """Number of the oldest change still in the log."""
    oldest = fetch.value(conn, "SELECT min(seq) FROM changes")
    return int(oldest) if oldest is not None else _newest(conn) + 1


def _trim(conn: apsw.Connection) -> None:
    """Drop the changes that every reader has followed.

    Nobody waits for a reader that is very far behind: its plugin is gone. Should it come
    back, it finds the gap and begins anew.
    """
    conn.execute(
        "DELETE FROM changes WHERE seq <= (SELECT min(seq) FROM change_readers"
        " WHERE name = ? OR seq > ?)",
        (READER, _newest(conn) - FAR_BEHIND),
    )


def _tables_there(conn: apsw.Connection) -> bool:
    sql = "SELECT count(*) FROM sqlite_schema WHERE name IN (?, ?, ?)"
    names = ("memory_index", "memory_words", "memory_words_trigram")
    return bool(fetch.value(conn, sql, *names) == len(names))


def _backfill_at(conn: apsw.Connection) -> tuple[int, int]:
    """Kind and id after which filling from the tables goes on; past the last: done."""
    kind_number, after = json.loads(meta.get(conn, _BACKFILL_KEY) or "[3, 0]")
    return kind_number, after


def _backfill(conn: apsw.Connection, limit: int) -> int:
    """Take up to `limit` records from the tables, oldest first; return how many."""
    kind_number, after = _backfill_at(conn)
    while kind_number < len(KINDS) and limit > 0:
        kind = KINDS[kind_number]
        sql = f"SELECT id FROM {TABLES[kind]} WHERE id > ? ORDER BY id LIMIT ?"
        ids = [record_id for (record_id,) in conn.execute(sql, (after, limit))]
        if ids:
            _take(conn, {(kind, record_id) for record_id in ids})
            meta.put(conn, _BACKFILL_KEY, json.dumps([kind_number, ids[-1]]))
            return len(ids)
        kind_number, after = kind_number + 1, 0
        meta.put(conn, _BACKFILL_KEY, json.dumps([kind_number, 0]))
    return 0


def _take(conn: apsw.Connection, records: set[tuple[DocKind, int]]) -> None:
    """Bring the index in line with the tables for these records."""
    for kind in KINDS:
        ids = sorted(record_id for of, record_id in records if of is kind)
        for start in range(0, len(ids), 250):
            some = ids[start : start + 250]
            found = list(documents(conn, kind, some))
            _put(conn, found)
            there = {document.rowid for document in found}
            gone = [rowid_of(kind, i) for i in some if rowid_of(kind, i) not in there]
            conn.executemany("DELETE FROM memory_index WHERE rowid = ?", [(g,) for g in gone])


def _put(conn: apsw.Connection, found: list[Document]) -> None:
    # In order of rowid: FTS5 then writes them out together.
    ordered = sorted(found, key=lambda document: document.rowid)
    conn.executemany(_INSERT, [(d.rowid, *d.columns) for d in ordered])
    _learn(conn, words.long_words("\n".join(d.text for d in ordered)))


def _learn(conn: apsw.Connection, found: Iterable[str]) -> None:
    """Add words that are new to the list of words and to its trigram index."""
    known = "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT word FROM memory_words)"
    new = conn.execute(known, (json.dumps(sorted(found)),)).fetchall()
    last = fetch.value(conn, "SELECT max(id) FROM memory_words") or 0
    rows = [(number, word) for number, (word,) in enumerate(new, last + 1)]
    conn.executemany("INSERT INTO memory_words (id, word) VALUES (?, ?)", rows)
    conn.executemany("INSERT INTO memory_words_trigram (rowid, word) VALUES (?, ?)", rows)
