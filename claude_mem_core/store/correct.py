"""What people do to memories: edit, delete, pin, mark wrong, and take any of it back.

Every change is written down in `corrections` with what was there before. `sync_rev` counts
the changes of a record, so that nobody overwrites what he has not seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import apsw
import attrs

from claude_mem_core.errors import MemError, NotFound
from claude_mem_core.store import fetch, merging, text, trash
from claude_mem_core.store.draft import title_key
from claude_mem_core.store.trash import TABLES, missing
from claude_mem_core.types import DocKind

KEPT_MS = 7 * 86_400_000  # how long a deleted memory can be brought back
WRONG = 0  # in `superseded_by`: it does not hold, and nothing took its place
FIELDS: Mapping[DocKind, tuple[str, ...]] = {
    DocKind.OBSERVATION: ("type", "title", "subtitle", "narrative", "facts", "concepts"),
    DocKind.SUMMARY: (
        "request", "investigated", "learned", "completed", "next_steps", "notes",
    ),
}  # fmt: skip
LISTS = ("facts", "concepts")
LAST = """
  SELECT id FROM corrections WHERE undone_ms IS NULL AND (action <> 'delete' OR before IS NOT NULL)
  ORDER BY id DESC LIMIT 1
"""
ADD = """
  INSERT INTO corrections (at_ms, action, kind, record_id, session_db_id, before)
  VALUES (?, ?, ?, ?, (SELECT session_db_id FROM {table} WHERE id = ?), ?)
"""


class Changed(MemError):
    """Somebody else changed the memory since it was read; it was left as it is."""


@attrs.frozen
class Done:
    """What was done: `undo` takes it back, `rev` is the record's revision afterwards."""

    kind: DocKind
    id: int
    action: str
    undo: int
    rev: int


def edit(
    conn: apsw.Connection, kind: DocKind, number: int, words: Mapping[str, Any],
    rev: int | None, now: int, trust: str | None = None,
) -> Done:  # fmt: skip
    """Put new words in the place of old ones; these are kept.

    `words`: by column, texts or lists of texts. `rev`: the revision that they are for;
    None for whatever there is. `trust`: how far they can be trusted, if not as before.

    Raises:
        NotFound: there is no such memory, or it has no such field.
        Changed: it has another revision.
    """
    names = [name for name in FIELDS[kind] if name in words]
    if len(names) != len(words):
        raise NotFound(f"of this memory these can be edited: {', '.join(FIELDS[kind])}")
    if not names:
        return _as_it_was(conn, kind, number, "edit")
    columns = [*names, *(["trust"] if trust else [])]
    sql = f"SELECT sync_rev, {', '.join(columns)} FROM {TABLES[kind]} WHERE id = ?"
    row = fetch.row(conn, sql, number)
    if row is None:
        raise missing(kind, number)
    if rev is not None and rev != _rev(row[0]):
        raise Changed("it was changed in the meantime; look at it again, then edit")
    undo = _note(conn, "edit", kind, number, dict(zip(columns, row[1:], strict=True)), now)
    if kind is DocKind.OBSERVATION:  # what it said of its subject may not be so any more
        conn.execute("DELETE FROM subjects WHERE memory_id = ?", (number,))
    values = {n: _column(n, words[n]) for n in names} | ({"trust": trust} if trust else {})
    return _set(conn, kind, number, "edit", undo, values)


def merge(
    conn: apsw.Connection, number: int, others: Sequence[int], words: Mapping[str, str], now: int
) -> Done:
    """Make several observations one: `number` stays and says all, the others are replaced.

    `words`: a title and a narrative instead of theirs.

    Raises:
        NotFound: one of them is not there.
        InvalidInput: they are of two projects, or one does not hold any more.
    """
    kind = DocKind.OBSERVATION
    before, values = merging.combined(conn, number, others, words)
    whole = {**before, "merged": merging.give_way(conn, number, others)}
    undo = _note(conn, "edit", kind, number, whole, now)
    return _set(conn, kind, number, "merge", undo, values)


def mark_wrong(conn: apsw.Connection, kind: DocKind, number: int, now: int) -> Done:
    """It does not hold: no session is given it and no search finds it any more."""
    before = {"superseded_by": _superseded(conn, kind, number)}
    if before["superseded_by"] == WRONG:
        return _as_it_was(conn, kind, number, "wrong")
    undo = _note(conn, "wrong", kind, number, before, now)
    return _set(conn, kind, number, "wrong", undo, {"superseded_by": WRONG})


def mark_right(conn: apsw.Connection, kind: DocKind, number: int, now: int) -> Done:
    """It holds after all."""
    if _superseded(conn, kind, number) != WRONG:
        return _as_it_was(conn, kind, number, "right")
    undo = _note(conn, "right", kind, number, {"superseded_by": WRONG}, now)
    return _set(conn, kind, number, "right", undo, {"superseded_by": None})


def pin(conn: apsw.Connection, kind: DocKind, number: int, now: int) -> Done:
    """It stands in every context of its project from now on, also when it is old."""
    if pinned(conn, kind, number):
        return _as_it_was(conn, kind, number, "pin")
    undo = _note(conn, "pin", kind, number, {}, now)
    _put_pin(conn, kind, number, now)
    return _set(conn, kind, number, "pin", undo, {})


def unpin(conn: apsw.Connection, kind: DocKind, number: int, now: int) -> Done:
    """It is a memory like the others again."""
    if not pinned(conn, kind, number):
        return _as_it_was(conn, kind, number, "unpin")
    undo = _note(conn, "unpin", kind, number, {}, now)
    _drop_pin(conn, kind, number)
    return _set(conn, kind, number, "unpin", undo, {})


def delete(conn: apsw.Connection, kind: DocKind, number: int, now: int) -> Done:
    """Take a memory out of everything; for `KEPT_MS` it can be brought back."""
    if fetch.row(conn, f"SELECT 1 FROM {TABLES[kind]} WHERE id = ?", number) is None:
        raise missing(kind, number)
    undo = _note(conn, "delete", kind, number, None, now)
    whole = trash.take_out(conn, kind, number)
    sql = "UPDATE corrections SET before = ? WHERE id = ?"
    conn.execute(sql, (text.dumps(whole), undo))
    return Done(kind, number, "delete", undo, _rev(whole["row"]["sync_rev"]))


def undo(conn: apsw.Connection, number: int | None, now: int) -> Done:
    """Take a change back: the newest one that was not, or the one of that number.

    Raises:
        NotFound: there is none, or it was taken back already, or it is too old.
        Changed: the record was changed again after it.
    """
    wanted = number if number is not None else fetch.value(conn, LAST)
    sql = "SELECT action, kind, record_id, before FROM corrections WHERE id = ? AND undone_ms IS NULL"
    row = fetch.row(conn, sql, wanted)
    if row is None:
        raise NotFound("there is nothing to take back: never done, or taken back already")
    action, kind, record_id, before = row[0], DocKind(row[1]), row[2], text.loads_map(row[3])
    _still_last(conn, wanted, kind, record_id)
    values = _back(conn, action, kind, record_id, before, now)
    conn.execute("UPDATE corrections SET undone_ms = ? WHERE id = ?", (now, wanted))
    rev = _bump(conn, kind, record_id, values)
    name = "merge" if "merged" in before else action
    return Done(kind, record_id, f"undo {name}", wanted, rev)


def purge(conn: apsw.Connection, now: int) -> int:
    """Forget for good what was deleted more than `KEPT_MS` ago; return how many."""
    sql = """SELECT id, before FROM corrections WHERE action = 'delete' AND at_ms < ?
      AND before IS NOT NULL AND undone_ms IS NULL LIMIT 200"""
    old = fetch.rows(conn, sql, now - KEPT_MS)
    for number, before in old:
        trash.forget(conn, text.loads_map(before))
        conn.execute("UPDATE corrections SET before = NULL WHERE id = ?", (number,))
    return len(old)


def pinned(conn: apsw.Connection, kind: DocKind, number: int) -> bool:
    """Whether a memory is pinned."""
    sql = "SELECT 1 FROM pins WHERE kind = ? AND record_id = ?"
    return fetch.row(conn, sql, kind.value, number) is not None


def wrong_among(conn: apsw.Connection, kind: DocKind, ids: Sequence[int]) -> set[int]:
    """Which of these were marked wrong."""
    sql = f"""SELECT id FROM {TABLES[kind]}
      WHERE superseded_by = 0 AND id IN (SELECT value FROM json_each(?))"""
    return {row[0] for row in fetch.rows(conn, sql, text.dumps(list(ids)))}


# Inside -----------------------------------------------------------------------------------


def _note(
    conn: apsw.Connection, action: str, kind: DocKind, number: int, before: Any, now: int
) -> int:
    words = None if before is None else text.dumps(before)
    values = (now, action, kind.value, number, number, words)
    conn.execute(ADD.format(table=TABLES[kind]), values)
    return conn.last_insert_rowid()


def _set(
    conn: apsw.Connection, kind: DocKind, number: int, action: str, undo: int,
    values: Mapping[str, Any],
) -> Done:  # fmt: skip
    return Done(kind, number, action, undo, _bump(conn, kind, number, values))


def _bump(conn: apsw.Connection, kind: DocKind, number: int, values: Mapping[str, Any]) -> int:
    """Set columns and count the change; the record's new revision."""
    if kind is DocKind.OBSERVATION and "title" in values:  # the key says the title again
        values = {**values, "title_key": title_key(str(values["title"] or ""))}
    sets = "".join(f"{name} = ?, " for name in values)
    sql = f"""UPDATE {TABLES[kind]} SET {sets}sync_rev = CAST(sync_rev AS INTEGER) + 1
      WHERE id = ? RETURNING sync_rev"""
    row = fetch.row(conn, sql, *values.values(), number)
    if row is None:
        raise missing(kind, number)
    return _rev(row[0])


def _as_it_was(conn: apsw.Connection, kind: DocKind, number: int, action: str) -> Done:
    """It was so already: the change that made it so is the one to take back."""
    sql = """SELECT max(id) FROM corrections
      WHERE kind = ? AND record_id = ? AND action = ? AND undone_ms IS NULL"""
    found = fetch.value(conn, sql, kind.value, number, action)
    rev = fetch.value(conn, f"SELECT sync_rev FROM {TABLES[kind]} WHERE id = ?", number)
    if rev is None:
        raise missing(kind, number)
    return Done(kind, number, action, found or 0, _rev(rev))


def _superseded(conn: apsw.Connection, kind: DocKind, number: int) -> int | None:
    row = fetch.row(conn, f"SELECT superseded_by FROM {TABLES[kind]} WHERE id = ?", number)
    if row is None:
        raise missing(kind, number)
    return None if row[0] is None else int(row[0])


def _still_last(conn: apsw.Connection, wanted: int, kind: DocKind, number: int) -> None:
    """An old edit under a newer one can't be pulled out from under it."""
    sql = """SELECT 1 FROM corrections WHERE kind = ? AND record_id = ? AND id > ?
      AND undone_ms IS NULL"""
    if fetch.row(conn, sql, kind.value, number, wanted):
        raise Changed("it was changed again after that; take the newer change back first")


def _back(
    conn: apsw.Connection, action: str, kind: DocKind, number: int,
    before: Mapping[str, Any], now: int,
) -> Mapping[str, Any]:  # fmt: skip
    """Undo one change; return the columns that are to have their old values."""
    if action in {"edit", "wrong", "right"}:
        if "merged" in before:
            merging.take_back(conn, number, before["merged"])
        return {name: value for name, value in before.items() if name != "merged"}
    if action == "delete":
        if "row" not in before:
            raise NotFound("it was deleted more than 7 days ago and is gone for good")
        trash.put_back(conn, before)
    elif action == "pin":
        _drop_pin(conn, kind, number)
    elif action == "unpin":
        _put_pin(conn, kind, number, now)
    return {}


def _put_pin(conn: apsw.Connection, kind: DocKind, number: int, now: int) -> None:
    sql = f"""INSERT OR IGNORE INTO pins
      SELECT ?, id, project_id, ? FROM {TABLES[kind]} WHERE id = ?"""
    conn.execute(sql, (kind.value, now, number))


def _drop_pin(conn: apsw.Connection, kind: DocKind, number: int) -> None:
    sql = "DELETE FROM pins WHERE kind = ? AND record_id = ?"
    conn.execute(sql, (kind.value, number))


def _column(name: str, value: Any) -> str:
    if name in LISTS:
        return text.dumps([text.cut(text.safe(str(part))).text for part in value])
    return text.cut(text.safe(str(value))).text


def _rev(value: Any) -> int:
    """Revisions of other devices are opaque; they count as the first."""
    return int(value) if str(value).isdigit() else 1
