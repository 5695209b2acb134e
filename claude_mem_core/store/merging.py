"""Two memories made one: words, files and evidence come together, the other gives way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from claude_mem_core.errors import InvalidInput
from claude_mem_core.store import fetch, personal, text
from claude_mem_core.store.trash import missing
from claude_mem_core.types import DocKind

LISTS = ("facts", "concepts", "files_read", "files_modified")
COLUMNS = ("title", "narrative", "text", *LISTS, "trust", "project_id", "superseded_by")
LOWEST = ("foreign", "work", "user")  # what is made of several is trusted like the least
ROW = f"SELECT {', '.join(COLUMNS)} FROM observations WHERE id = ?"
EVIDENCE = """
  INSERT OR IGNORE INTO evidence SELECT 'observation', ?1, event_id FROM evidence
  WHERE kind = 'observation' AND memory_id = ?2 RETURNING event_id
"""
FILES = """
  INSERT OR IGNORE INTO memory_files
  SELECT path, kind, ?1, project_id, modified, created_at_epoch, name FROM memory_files
  WHERE kind = 'observation' AND memory_id = ?2 RETURNING path, modified
"""
PIN = """
  INSERT OR IGNORE INTO pins SELECT kind, ?1, project_id, at_ms FROM pins
  WHERE kind = 'observation' AND record_id = ?2
"""
PLACE = "DELETE FROM personal WHERE memory_id = ? RETURNING memory_id, place, at_ms"


def combined(
    conn: apsw.Connection, number: int, others: Sequence[int], words: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The columns of the memory that stays: as they are, and as they are to be.

    `words`: a title and a narrative that take the place of what would be made of theirs.

    Raises:
        NotFound: one of them is not there.
        InvalidInput: they can't be made one; the text says why.
    """
    kept = _row(conn, number)
    rest = [_row(conn, other) for other in others]
    _fit(number, others, kept, rest)
    _alike_given(conn, (number, *others))
    new: dict[str, Any] = {name: _union(name, kept, rest) for name in LISTS}
    new["narrative"] = words.get("narrative") or _narrative([kept, *rest])
    new["title"] = words.get("title") or kept["title"]
    new["trust"] = min((row["trust"] for row in (kept, *rest)), key=LOWEST.index)
    changed = {name: value for name, value in new.items() if value != kept[name]}
    return {name: kept[name] for name in changed}, changed


def give_way(conn: apsw.Connection, number: int, others: Sequence[int]) -> dict[str, Any]:
    """The others are replaced by `number`, which takes over what they rest on and their pin.

    What is returned takes it back.
    """
    had_pin = _pinned(conn, number)
    events: list[int] = []
    files: list[list[Any]] = []
    places: list[list[int]] = []
    for other in others:
        events += [row[0] for row in fetch.rows(conn, EVIDENCE, number, other)]
        files += [list(row) for row in fetch.rows(conn, FILES, number, other)]
        conn.execute(PIN, (number, other))
        places += [list(row) for row in fetch.rows(conn, PLACE, other)]
        conn.execute("UPDATE observations SET superseded_by = ? WHERE id = ?", (number, other))
    pinned = _pinned(conn, number) and not had_pin
    return {"others": list(others), "events": events, "files": files, "pinned": pinned,
            "personal": places}  # fmt: skip


def take_back(conn: apsw.Connection, number: int, merged: Mapping[str, Any]) -> None:
    """Part them again; what was done to the others since then stays."""
    sql = "UPDATE observations SET superseded_by = NULL WHERE id = ? AND superseded_by = ?"
    conn.executemany(sql, [(other, number) for other in merged["others"]])
    gone = "DELETE FROM evidence WHERE kind = 'observation' AND memory_id = ? AND event_id = ?"
    conn.executemany(gone, [(number, event) for event in merged["events"]])
    files = """DELETE FROM memory_files WHERE kind = 'observation' AND memory_id = ?
      AND path = ? AND modified = ?"""
    conn.executemany(files, [(number, *file) for file in merged["files"]])
    for other, place, at_ms in merged.get("personal", ()):
        personal.put_back(conn, other, place, at_ms)
    if merged["pinned"]:
        conn.execute("DELETE FROM pins WHERE kind = 'observation' AND record_id = ?", (number,))


def _row(conn: apsw.Connection, number: int) -> dict[str, Any]:
    row = fetch.row(conn, ROW, number)
    if row is None:
        raise missing(DocKind.OBSERVATION, number)
    return dict(zip(COLUMNS, row, strict=True))


def _fit(
    number: int, others: Sequence[int], kept: Mapping[str, Any], rest: Sequence[Mapping[str, Any]]
) -> None:
    if number in others or len(set(others)) < len(others):
        raise InvalidInput("a memory can't be merged with itself; name two of them")
    for other, row in ((number, kept), *zip(others, rest, strict=True)):
        if row["superseded_by"] is not None:
            raise InvalidInput(
                f"#{other} was replaced already, or is marked wrong; `mem show {other}` says more"
            )
        if row["project_id"] != kept["project_id"]:
            raise InvalidInput(f"#{other} is of another project than #{number}")


def _alike_given(conn: apsw.Connection, numbers: Sequence[int]) -> None:
    """What every project is given is not mixed with what one project is given."""
    mine = set(personal.ids(conn)) & set(numbers)
    others = [number for number in numbers if number not in mine]
    if mine and others:
        own = min(mine)
        raise InvalidInput(
            f"#{own} is given in every project, #{others[0]} is not:"
            f" `mem demote {own}` or `mem promote {others[0]}` first"
        )


def _union(name: str, kept: Mapping[str, Any], rest: Sequence[Mapping[str, Any]]) -> str:
    parts = [part for row in (kept, *rest) for part in text.loads_list(row[name])]
    if parts == list(text.loads_list(kept[name])):
        return str(kept[name] or "[]")
    return text.dumps(list(dict.fromkeys(parts)))


def _narrative(rows: Sequence[Mapping[str, Any]]) -> str:
    """Each text once, one below the other."""
    found: list[str] = []
    for row in rows:
        said = (row["narrative"] or row["text"] or "").strip()
        if said and not any(said in earlier for earlier in found):
            found.append(said)
    return text.cut("\n\n".join(found)).text


def _pinned(conn: apsw.Connection, number: int) -> bool:
    sql = "SELECT 1 FROM pins WHERE kind = 'observation' AND record_id = ?"
    return fetch.row(conn, sql, number) is not None
