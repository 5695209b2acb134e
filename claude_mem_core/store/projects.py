"""Projects: places on this machine, their labels, and what a filter by name means."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

import apsw
import attrs

from claude_mem_core.store import fetch

if TYPE_CHECKING:
    from claude_mem_core.projects import Place

GENERAL = "general"  # kind and label of the bucket for home, root and temp directories
BY_KEY = "SELECT id, label, kind, parent_id, merged_into FROM projects WHERE key = ?"
BY_PLACE = "SELECT label FROM project_labels WHERE project_id = ? AND place = ?"
TAKEN = """
  SELECT 1 FROM projects WHERE label = ?1 UNION ALL
  SELECT 1 FROM project_labels WHERE label = ?1 UNION ALL
  SELECT 1 FROM project_names WHERE said = ?1
"""
BY_NAME = (
    "SELECT id FROM projects WHERE label = ?",
    "SELECT project_id FROM project_labels WHERE label = ?",
    "SELECT project_id FROM project_names WHERE said = ?",
)
INSERT = """
  INSERT INTO projects (key, label, kind, parent_id, remote, created_at_epoch)
  VALUES (?, ?, ?, ?, ?, ?)
"""
LABELS = "SELECT label FROM projects UNION SELECT label FROM project_labels"
CHAIN = """
  WITH RECURSIVE chain(id) AS (
    SELECT ?1
    UNION SELECT p.parent_id FROM projects p JOIN chain ON p.id = chain.id
      WHERE p.parent_id IS NOT NULL
    UNION SELECT p.merged_into FROM projects p JOIN chain ON p.id = chain.id
      WHERE p.merged_into IS NOT NULL
    UNION SELECT p.id FROM projects p JOIN chain ON p.merged_into = chain.id
  )
  SELECT id FROM chain
"""


@attrs.frozen
class ProjectRef:
    """A project as rows name it: partition, label, and where it is.

    Attributes:
        id: partition that worktrees of a repository share.
        label: name that people see; a worktree has its own.
        root: directory of the place; paths are shown relative to it.
    """

    id: int
    label: str
    key: str
    kind: str
    root: str


def resolve(conn: apsw.Connection, place: Place, now: int) -> ProjectRef:
    """The project of `place`; made on the first event from there.

    One that is merged with another keeps its own partition, so that splitting them leaves
    every row where it was made.
    """
    row = fetch.row(conn, BY_KEY, place.key) or _made(conn, place, now)
    number, label, kind, parent, _ = row
    if parent is None and place.parent_key:
        _adopt(conn, number, place.parent_key)
    if place.worktree_label:
        label = _worktree(conn, number, place)
    return ProjectRef(number, label, place.key, kind, place.root)


def known(conn: apsw.Connection, place: Place) -> ProjectRef | None:
    """The project of `place` if something was ever recorded there; writes nothing."""
    row = fetch.row(conn, BY_KEY, place.key)
    if row is None:
        return None
    number, label, kind, _, merged = row
    if merged is not None:
        number, label = _merged(conn, merged)
    if place.worktree_label:
        label = fetch.value(conn, BY_PLACE, number, place.root) or label
    return ProjectRef(number, label, place.key, kind, place.root)


def find(conn: apsw.Connection, name_or_id: str | int) -> list[int]:
    """Ids that a filter means: the project, its parents, what was merged with it.

    Empty for a name that nothing has.
    """
    number = name_or_id if isinstance(name_or_id, int) else number_of(conn, name_or_id)
    if number is None:
        return []
    return [row[0] for row in fetch.rows(conn, CHAIN, number)]


def labels(conn: apsw.Connection) -> dict[int, str]:
    """The label of every project, by id."""
    return dict(fetch.rows(conn, "SELECT id, label FROM projects"))


def labelled(conn: apsw.Connection, name: str) -> int | None:
    """The project that has or had this label, or one of its worktrees."""
    for sql in BY_NAME:
        number = fetch.value(conn, sql, name)
        if number is not None:
            return int(number)
    return None


def number_of(conn: apsw.Connection, name: str) -> int | None:
    """The project that has or had this label, or one of its worktrees; or this id."""
    number = labelled(conn, name)
    if number is None:
        sql = "SELECT id FROM projects WHERE CAST(id AS TEXT) = ?"
        number = fetch.value(conn, sql, name)
    return None if number is None else int(number)


def unknown_text(conn: apsw.Connection, name: str) -> str:
    """What to tell who names a project that is not there: which ones are near it."""
    every = sorted(label for (label,) in fetch.rows(conn, LABELS))
    by_lower = {label.lower(): label for label in every}
    near = [by_lower[word] for word in get_close_matches(name.lower(), by_lower, 3, 0.5)]
    held = [label for label in every if len(name) > 2 and name.lower() in label.lower()]
    close = list(dict.fromkeys((*near, *held)))[:3]
    text = f"there is no project {name!r}"
    return f"{text}; near it: {', '.join(close)}" if close else f"{text}; see `mem project list`"


def _made(
    conn: apsw.Connection, place: Place, now: int
) -> tuple[int, str, str, int | None, int | None]:
    label = place.label if place.kind == GENERAL else free_label(conn, place.label)
    parent = _id_of(conn, place.parent_key) if place.parent_key else None
    conn.execute(INSERT, (place.key, label, place.kind, parent, place.remote, now))
    return conn.last_insert_rowid(), label, place.kind, parent, None


def free_label(conn: apsw.Connection, wanted: str) -> str:
    """`wanted`, or with `~2`, `~3`, ... when another place has it."""
    label, number = wanted, 1
    while label == GENERAL or fetch.row(conn, TAKEN, label):
        number += 1
        label = f"{wanted}~{number}"
    return label


def _worktree(conn: apsw.Connection, project: int, place: Place) -> str:
    known = fetch.value(conn, BY_PLACE, project, place.root)
    if known is not None:
        return str(known)
    label = free_label(conn, place.worktree_label or place.label)
    conn.execute("INSERT INTO project_labels VALUES (?, ?, ?)", (label, project, place.root))
    return label


def _adopt(conn: apsw.Connection, number: int, parent_key: str) -> None:
    parent = _id_of(conn, parent_key)
    if parent is not None and parent != number:
        conn.execute("UPDATE projects SET parent_id = ? WHERE id = ?", (parent, number))


def _id_of(conn: apsw.Connection, key: str) -> int | None:
    number = fetch.value(conn, "SELECT id FROM projects WHERE key = ?", key)
    return None if number is None else int(number)


def _merged(conn: apsw.Connection, number: int) -> tuple[int, str]:
    """The end of a chain of merges."""
    seen = {number}
    while True:
        sql = "SELECT label, merged_into FROM projects WHERE id = ?"
        label, onward = fetch.row(conn, sql, number) or ("", None)
        if onward is None or onward in seen:
            return number, label
        seen.add(onward)
        number = onward
