"""Projects in the user's order: other names, made one, taken apart, and all of it undone.

No row of a memory is changed by any of it. A name is looked up when it is shown, a merged
project is read along with the other, and what is recorded goes on where it is recorded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import apsw
import attrs

from claude_mem_core.errors import InvalidInput, NotFound
from claude_mem_core.store import fetch, links, projects

LABEL_CHARS = 80
MERGED = "SELECT merged_into FROM projects WHERE id = ?"
LAST = """
  SELECT id FROM project_changes WHERE undone_ms IS NULL ORDER BY id DESC LIMIT 1
"""
LATER = """
  SELECT 1 FROM project_changes WHERE undone_ms IS NULL AND id > ?1 AND (project_id = ?2
    OR EXISTS (SELECT 1 FROM json_each(before) a JOIN json_each(?3) b ON a.key = b.key
      WHERE a.key GLOB '[0-9]*'))
"""
LISTED = """
  SELECT c.id, c.at_ms, c.action, p.label, c.said, c.undone_ms
  FROM project_changes c JOIN projects p ON p.id = c.project_id
  ORDER BY c.id DESC LIMIT ?
"""


@attrs.frozen
class Change:
    """What was done; `number` takes it back."""

    number: int
    action: str
    project: str
    said: str


def rename(conn: apsw.Connection, name: str, new: str, now: int) -> Change:
    """Give a project, or one of its worktrees, another name; the old one leads there too.

    Raises:
        NotFound: there is none of that name.
        InvalidInput: the new name is taken, or none.
    """
    number = _number(conn, name)
    old = _own_label(conn, number, name)
    new = _free(conn, new, number)
    _relabel(conn, number, old, new)
    return _note(conn, "rename", number, f"{old} to {new}", {"old": old, "new": new}, now)


def alias(conn: apsw.Connection, name: str, other: str, now: int) -> Change:
    """Let another name mean the project as well. Raises NotFound, InvalidInput."""
    number = _number(conn, name)
    other = _free(conn, other, number)
    conn.execute("INSERT INTO project_labels VALUES (?, ?, '')", (other, number))
    return _note(conn, "alias", number, other, {"alias": other}, now)


def unalias(conn: apsw.Connection, other: str, now: int) -> Change:
    """Take another name away again.

    Raises:
        NotFound: it is no alias.
    """
    sql = "SELECT project_id FROM project_labels WHERE label = ? AND place = ''"
    number = fetch.value(conn, sql, other)
    if number is None:
        raise NotFound(f"{other!r} is no alias; `mem project list` shows them")
    conn.execute("DELETE FROM project_labels WHERE label = ? AND place = ''", (other,))
    return _note(conn, "unalias", int(number), other, {"alias": other}, now)


def merge(
    conn: apsw.Connection, olds: Sequence[int], new: int, now: int, action: str = "merge"
) -> Change:
    """Make projects one with `new`: all of them read what each remembers.

    What was merged into one of them before comes along.

    Raises:
        InvalidInput: one of them is merged already, or can't be.
    """
    before = {str(old): fetch.value(conn, MERGED, old) for old in olds}
    label = projects.labels(conn)[new]
    for old in olds:
        label = links.link(conn, old, new)
    target = links.end(conn, new)
    names = ", ".join(projects.labels(conn)[old] for old in olds)
    return _note(conn, action, target, f"{names} into {label}", before, now)


def split(conn: apsw.Connection, number: int, now: int, action: str = "split") -> Change:
    """Take a project out of the one it was merged into, or apart what was merged into it.

    Raises:
        InvalidInput: nothing is merged here.
    """
    parts = [number] if fetch.value(conn, MERGED, number) is not None else _into(conn, number)
    labels = projects.labels(conn)
    if not parts:
        raise InvalidInput(f"{labels[number]} is not linked with another; see `mem project list`")
    before = {str(part): fetch.value(conn, MERGED, part) for part in parts}
    for part in parts:
        links.unlink(conn, part)
    names = ", ".join(labels[part] for part in parts)
    return _note(conn, action, number, names, before, now)


def undo(conn: apsw.Connection, number: int | None, now: int) -> Change:
    """Take a change back: the newest one that was not, or the one of that number.

    Raises:
        NotFound: there is none.
        InvalidInput: the same projects were changed after it.
    """
    wanted = number if number is not None else fetch.value(conn, LAST)
    sql = """SELECT action, project_id, said, before FROM project_changes
      WHERE id = ? AND undone_ms IS NULL"""
    row = fetch.row(conn, sql, wanted)
    if row is None:
        raise NotFound("there is nothing to take back: never done, or taken back already")
    action, project, said, kept = row
    if fetch.row(conn, LATER, wanted, project, kept):
        raise InvalidInput("these projects were changed after that; take that back first")
    _back(conn, action, project, json.loads(kept))
    sql = "UPDATE project_changes SET undone_ms = ? WHERE id = ?"
    conn.execute(sql, (now, wanted))
    return Change(int(wanted), action, projects.labels(conn)[project], said)


def changes(conn: apsw.Connection, limit: int) -> list[dict[str, Any]]:
    """What was done to projects, newest first."""
    names = ("number", "at_ms", "action", "project", "what", "undone_ms")
    return [dict(zip(names, row, strict=True)) for row in fetch.rows(conn, LISTED, limit)]


# Inside -----------------------------------------------------------------------------------


def _number(conn: apsw.Connection, name: str) -> int:
    number = projects.number_of(conn, name.strip())
    if number is None:
        raise NotFound(projects.unknown_text(conn, name.strip()))
    if fetch.value(conn, "SELECT kind FROM projects WHERE id = ?", number) == projects.GENERAL:
        raise InvalidInput("home, root and temp directories belong to no project")
    return number


def _own_label(conn: apsw.Connection, number: int, name: str) -> str:
    """The label that is meant: that of a worktree when it was named, else the project's."""
    sql = "SELECT label FROM project_labels WHERE project_id = ? AND label = ? AND place <> ''"
    own = fetch.value(conn, sql, number, name.strip())
    return str(own or projects.labels(conn)[number])


def _free(conn: apsw.Connection, name: str, number: int) -> str:
    name = " ".join(name.split())
    if not name or len(name) > LABEL_CHARS or not name.isprintable() or name.isdigit():
        raise InvalidInput(f"a name has 1 to {LABEL_CHARS} characters and is no number")
    own = fetch.value(conn, "SELECT project_id FROM project_names WHERE said = ?", name)
    shown = fetch.row(conn, "SELECT 1 FROM projects WHERE label = ?", name)
    if own == number and not shown:  # a name that it had before
        return name
    if name == projects.GENERAL or fetch.row(conn, projects.TAKEN, name):
        raise InvalidInput(f"another project is called {name!r}; see `mem project list`")
    return name


def _relabel(conn: apsw.Connection, number: int, old: str, new: str) -> None:
    sql = "UPDATE project_labels SET label = ? WHERE label = ? AND project_id = ? AND place <> ''"
    conn.execute(sql, (new, old, number))
    conn.execute(
        "UPDATE projects SET label = ? WHERE id = ? AND label = ?", (new, number, old)
    )
    conn.execute("UPDATE project_names SET shown = ? WHERE shown = ?", (new, old))
    conn.execute("DELETE FROM project_names WHERE said = shown")
    conn.execute("INSERT OR REPLACE INTO project_names VALUES (?, ?, ?)", (old, number, new))


def _into(conn: apsw.Connection, number: int) -> list[int]:
    rows = fetch.rows(conn, "SELECT id FROM projects WHERE merged_into = ? ORDER BY id", number)
    return [row[0] for row in rows]


def _note(
    conn: apsw.Connection, action: str, number: int, said: str, before: Mapping[str, Any], now: int
) -> Change:
    sql = """INSERT INTO project_changes (at_ms, action, project_id, said, before)
      VALUES (?, ?, ?, ?, ?)"""
    conn.execute(sql, (now, action, number, said, json.dumps(before)))
    made = conn.last_insert_rowid()
    return Change(made, action, projects.labels(conn)[number], said)


def _back(conn: apsw.Connection, action: str, number: int, before: Mapping[str, Any]) -> None:
    _BACK.get(action, _merged_back)(conn, number, before)


def _renamed_back(conn: apsw.Connection, number: int, before: Mapping[str, Any]) -> None:
    _relabel(conn, number, before["new"], before["old"])


def _alias_away(conn: apsw.Connection, number: int, before: Mapping[str, Any]) -> None:
    sql = "DELETE FROM project_labels WHERE label = ? AND project_id = ? AND place = ''"
    conn.execute(sql, (before["alias"], number))


def _alias_back(conn: apsw.Connection, number: int, before: Mapping[str, Any]) -> None:
    sql = "INSERT OR IGNORE INTO project_labels VALUES (?, ?, '')"
    conn.execute(sql, (before["alias"], number))


def _merged_back(conn: apsw.Connection, number: int, before: Mapping[str, Any]) -> None:
    sql = "UPDATE projects SET merged_into = ? WHERE id = ?"
    conn.executemany(sql, [(into, int(part)) for part, into in before.items()])


_BACK: Mapping[str, Callable[[apsw.Connection, int, Mapping[str, Any]], None]] = {
    "rename": _renamed_back,
    "alias": _alias_away,
    "unalias": _alias_back,
}
