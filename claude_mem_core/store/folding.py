"""Checkouts that are gone, or that lie beside their repository, go with it.

A worktree shares its repository's memory from the start. A submodule has its own: when its
checkout is deleted, its repository reads it along, so that nothing is stranded, and no
longer once it is checked out again. What was imported under a worktree's name, or recorded
before the two sides agreed, is adopted when the user says so.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator

import apsw
import attrs

from claude_mem_core.store import fetch, regroup

FOLD = "fold"
PLACE = """
  SELECT coalesce(nullif(root, ''), cwd) FROM sdk_sessions
  WHERE project_id = ? AND coalesce(nullif(root, ''), cwd) <> ''
  ORDER BY started_at_epoch DESC LIMIT 1
"""
# Submodules that nobody took out of a fold again.
APART = """
  SELECT p.id, p.parent_id FROM projects p
  WHERE p.key LIKE 'sub-%' AND p.parent_id IS NOT NULL AND p.merged_into IS NULL
    AND NOT EXISTS (SELECT 1 FROM project_changes c
      WHERE c.action = 'fold' AND c.undone_ms IS NOT NULL
        AND json_type(c.before, '$."' || p.id || '"') IS NOT NULL)
  ORDER BY p.id
"""
FOLDED = """
  SELECT c.id, p.id FROM project_changes c JOIN json_each(c.before) e
  JOIN projects p ON p.id = CAST(e.key AS INTEGER)
  WHERE c.action = 'fold' AND c.undone_ms IS NULL AND p.merged_into IS NOT NULL
"""
BESIDE = """
  SELECT id, label, kind, key FROM projects
  WHERE id <> ?1 AND merged_into IS NULL AND kind <> 'general' AND key <> 'personal'
  ORDER BY id
"""


@attrs.frozen
class Adoptable:
    """A project that belongs to a repository: a worktree of it, by its place or its name."""

    id: int
    label: str
    place: str


def fold(conn: apsw.Connection, now: int) -> list[str]:
    """Let repositories read the submodules that are gone; what was done, in words."""
    done = []
    for number, parent in fetch.rows(conn, APART):
        if _is_gone(conn, number) and _is_there(conn, parent):
            done.append(regroup.merge(conn, [number], parent, now, FOLD).said)
    return done


def unfold(conn: apsw.Connection, now: int) -> int:
    """Take apart again what is checked out again; how many."""
    back = [change for change, number in fetch.rows(conn, FOLDED) if _is_there(conn, number)]
    for change in back:
        regroup.undo(conn, change, now)
        sql = "UPDATE project_changes SET action = 'fold, and back' WHERE id = ?"
        conn.execute(sql, (change,))
    return len(back)


def adoptable(
    conn: apsw.Connection, number: int, roots: Collection[str], *, named: bool
) -> Iterator[Adoptable]:
    """Projects that are worktrees of this one.

    `roots`: its worktrees' directories. `named`: also what is only a name, such as
    imported `shop/fix`, whose worktree need not be there any more.
    """
    own = str(fetch.value(conn, "SELECT label FROM projects WHERE id = ?", number))
    names = {f"{own}/{os.path.basename(root)}" for root in roots}
    for other, label, kind, key in fetch.rows(conn, BESIDE, number):
        place = _place(conn, other)
        by_name = kind == "named" and key == f"name:{label}"
        if place in roots or (by_name and (label in names or (named and label.startswith(f"{own}/")))):
            yield Adoptable(other, label, place)


def _place(conn: apsw.Connection, number: int) -> str:
    return str(fetch.value(conn, PLACE, number) or "")


def _is_gone(conn: apsw.Connection, number: int) -> bool:
    """Its directory was known and holds no checkout any more."""
    place = _place(conn, number)
    return os.path.isabs(place) and not os.path.lexists(os.path.join(place, ".git"))


def _is_there(conn: apsw.Connection, number: int) -> bool:
    place = _place(conn, number)
    return os.path.isabs(place) and os.path.lexists(os.path.join(place, ".git"))
