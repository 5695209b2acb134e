"""Projects that are one by the user's word: a clone, or a folder that was moved.

A linked project is marked as merged into another; nothing of it is rewritten. Either's
memories are read by both, and what is recorded stays with the place it was recorded at.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

import apsw
import attrs

from claude_mem_core.errors import InvalidInput
from claude_mem_core.store import fetch, meta, projects

TOLD = "links_told"
# Others of the same address that have something to offer.
CLONES = """
  SELECT p.id, p.label, q.id, q.label, p.remote
  FROM projects p JOIN projects q ON q.remote = p.remote AND q.id < p.id
  WHERE p.merged_into IS NULL AND q.merged_into IS NULL
    AND p.kind = 'git' AND q.kind = 'git'
    AND p.parent_id IS NOT q.id AND q.parent_id IS NOT p.id
    AND EXISTS (SELECT 1 FROM totals WHERE project_id IN (p.id, q.id) AND n > 0)
"""


@attrs.frozen
class Clone:
    """Two projects that have the same remote.

    Attributes:
        id, label: the later one.
        of, of_label: the one that was there first.
        remote: host/owner/repository.
    """

    id: int
    label: str
    of: int
    of_label: str
    remote: str

    @property
    def pair(self) -> str:
        return f"{self.of}-{self.id}"

    @property
    def offer(self) -> str:
        """What a person is told, with the command that takes it."""
        command = shlex.join(["mem", "project", "link", self.label, self.of_label])
        return (
            f"{self.label} is another clone of {self.of_label} ({self.remote});"
            f" `{command}` lets them share their memories"
        )


def clones(conn: apsw.Connection, number: int | None = None) -> list[Clone]:
    """Clones that may be linked: all of them, or those of one project."""
    if number is None:
        return [Clone(*row) for row in fetch.rows(conn, f"{CLONES} ORDER BY p.id, q.id")]
    mine = f"{CLONES} AND ?1 IN (p.id, q.id) AND p.remote = (SELECT remote FROM projects WHERE id = ?1)"
    return [Clone(*row) for row in fetch.rows(conn, f"{mine} ORDER BY p.id, q.id", number)]


def untold(conn: apsw.Connection, place: str, found: list[Clone]) -> list[Clone]:
    """Those that were not yet offered at `place` (`session`, `status`)."""
    told = _told(conn).get(place, [])
    return [clone for clone in found if clone.pair not in told]


def tell(conn: apsw.Connection, place: str, found: list[Clone]) -> None:
    """They are offered now."""
    told = _told(conn)
    pairs = [*told.get(place, []), *(clone.pair for clone in found)]
    meta.put(conn, TOLD, json.dumps({**told, place: list(dict.fromkeys(pairs))}))


def _told(conn: apsw.Connection) -> dict[str, list[str]]:
    found = json.loads(meta.get(conn, TOLD) or "{}")
    return found if isinstance(found, dict) else {}


def link(conn: apsw.Connection, number: int, other: int) -> str:
    """Make `number` one with `other`; the label under which both go on.

    Raises:
        InvalidInput: they are one already, or one of them can't be linked.
    """
    _linkable(conn, number)
    _linkable(conn, other)
    target = end(conn, other)
    if end(conn, number) == target:
        raise InvalidInput("these two are one project already; see `mem project list`")
    merged = fetch.value(conn, "SELECT merged_into FROM projects WHERE id = ?", number)
    if merged is not None:
        label = _label(conn, number)
        raise InvalidInput(
            f"{label} is linked with {_label(conn, merged)}; first `mem project unlink {label}`"
        )
    conn.execute("UPDATE projects SET merged_into = ? WHERE id = ?", (target, number))
    return _label(conn, target)


def unlink(conn: apsw.Connection, number: int) -> str:
    """Take a link back; the label of the project that it led to.

    No such link is offered again.

    Raises:
        InvalidInput: the project is not linked.
    """
    label = linked_to(conn, number)
    conn.execute("UPDATE projects SET merged_into = NULL WHERE id = ?", (number,))
    for place in ("session", "status"):
        tell(conn, place, clones(conn, number))
    return label


def linked_to(conn: apsw.Connection, number: int) -> str:
    """The label of the project that this one is linked with.

    Raises:
        InvalidInput: it is not linked.
    """
    target = fetch.value(conn, "SELECT merged_into FROM projects WHERE id = ?", number)
    if target is None:
        label = _label(conn, number)
        raise InvalidInput(f"{label} is not linked with another; see `mem project list`")
    return _label(conn, target)


def end(conn: apsw.Connection, number: int) -> int:
    """The project that stands for this one: the last of the links from it."""
    last = number
    for step in _chain(conn, number):
        last = step
    return last


def _chain(conn: apsw.Connection, number: int) -> Iterator[int]:
    seen = {number}
    onward = fetch.value(conn, "SELECT merged_into FROM projects WHERE id = ?", number)
    while onward is not None and onward not in seen:
        seen.add(onward)
        yield int(onward)
        onward = fetch.value(conn, "SELECT merged_into FROM projects WHERE id = ?", onward)


def _linkable(conn: apsw.Connection, number: int) -> None:
    kind, key = fetch.row(conn, "SELECT kind, key FROM projects WHERE id = ?", number) or ("", "")
    if key == "personal":
        raise InvalidInput("what is yours is given in every project; there is nothing to link")
    if kind == projects.GENERAL:
        raise InvalidInput(
            "home, root and temp directories belong to no project; there is nothing to link"
        )


def _label(conn: apsw.Connection, number: int) -> str:
    return str(fetch.value(conn, "SELECT label FROM projects WHERE id = ?", number) or number)
