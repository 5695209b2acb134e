"""What people said of memories and projects, on its way in: only after a person's yes.

It would make others' memories stand in every context, or one project read another. So
nothing here is done unless somebody at a terminal has agreed to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import apsw
import attrs

from claude_mem_core.errors import InvalidInput, MemError
from claude_mem_core.store import (
    correct,
    feedback,
    fetch,
    links,
    personal,
    projects,
    regroup,
    text,
)
from claude_mem_core.store.imports.places import Projects
from claude_mem_core.types import DocKind

if TYPE_CHECKING:
    from claude_mem_core.clean.cleaner import Cleaner

KEY = "own"  # of the part of an export that holds it
MOST = 100_000  # entries of one list
MOST_NAMES = 1_000  # of one project
LONGEST = 200  # characters of a name
SECTIONS = ("projects", "pins", "personal", "feedback")
ALIAS = "INSERT INTO project_labels VALUES (?, ?, '')"
NAME = "INSERT INTO project_names VALUES (?, ?, ?)"
SAID = """
  INSERT INTO feedback (memory_id, useful, outdated, at_ms) VALUES (?1, ?2, ?3, ?4)
  ON CONFLICT (memory_id) DO UPDATE SET
    useful = max(useful, excluded.useful), outdated = max(outdated, excluded.outdated)
  WHERE useful < excluded.useful OR outdated < excluded.outdated
"""


@attrs.frozen(kw_only=True)
class OwnProject:
    """What was said of one project.

    Attributes:
        names: what rows call it, and what is shown instead.
        merged_into: label of the project that it was made one with.
        personal: it holds what was written for every project.
    """

    label: str
    aliases: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    merged_into: str = ""
    personal: bool = False


@attrs.frozen(kw_only=True)
class Own:
    """All of it; numbers are those that the rows of the same file have."""

    projects: tuple[OwnProject, ...] = ()
    pins: tuple[tuple[DocKind, str, int], ...] = ()
    personal: tuple[str, ...] = ()
    feedback: tuple[tuple[str, int, bool, int], ...] = ()


def count(value: Any) -> int:
    """How much of it a file holds."""
    own = value.get(KEY) if isinstance(value, dict) else None
    lists = own.values() if isinstance(own, dict) else ()
    return sum(len(entries) for entries in lists if isinstance(entries, list))


def read(value: Any, cleaner: Cleaner) -> Own:
    """Check it, and clean the names.

    Raises:
        InvalidInput: it is not as `mem export` writes it; the text names what.
    """
    own = value.get(KEY) if isinstance(value, dict) else None
    if own is None:
        return Own()
    if not isinstance(own, dict):
        raise InvalidInput(f"{KEY} must be an object")
    entries = {name: _list(own.get(name), f"{KEY}.{name}", MOST) for name in SECTIONS}
    return Own(
        projects=tuple(_project(one, cleaner) for one in entries["projects"]),
        pins=tuple(
            (_kind(_object(one, "pins")), _id(one.get("id"), "pins"), _whole(one.get("at")))
            for one in entries["pins"]
        ),
        personal=tuple(_id(one, "personal") for one in entries["personal"][: personal.MOST]),
        feedback=tuple(_said(_object(one, "feedback")) for one in entries["feedback"]),
    )


class OwnKeeper:
    """Writes it, in the import's transaction; a second time nothing is added."""

    def __init__(self, conn: apsw.Connection, own: Own, places: Projects, now: int) -> None:
        self._conn = conn
        self._own = own
        self._places = places
        self._now = now
        self._numbers: list[int] = []
        self.done: dict[str, int] = dict.fromkeys(SECTIONS, 0)

    def before(self) -> None:
        """Names: rows are looked up by them."""
        self._numbers = [self._named(one) for one in self._own.projects]

    def after(self, numbers: Mapping[DocKind, Mapping[str, int]]) -> None:
        """Merges, and what was said of memories; `numbers`: there -> here."""
        for one, number in zip(self._own.projects, self._numbers, strict=True):
            self.done["projects"] += self._merged(one, number)
        here = numbers[DocKind.OBSERVATION]
        for kind, there, at_ms in self._own.pins:
            if there in numbers[kind]:
                self.done["pins"] += self._pin(kind, numbers[kind][there], at_ms)
        for there in self._own.personal:
            if there in here:
                self.done["personal"] += self._promote(here[there])
        for there, useful, outdated, at_ms in self._own.feedback:
            if there in here and (useful or outdated):
                values = (here[there], useful, outdated, min(at_ms, self._now))
                self._conn.execute(SAID, values)
                self.done["feedback"] += self._conn.changes()

    # Projects --------------------------------------------------------------------------

    def _named(self, one: OwnProject) -> int:
        """The project, with the names that nothing else here has."""
        number = self._number(one)
        for alias in one.aliases:
            if self._is_free(alias):
                self._conn.execute(ALIAS, (alias, number))
                self.done["projects"] += 1
        for said, shown in one.names:
            if self._is_free(said):
                if projects.labelled(self._conn, shown) != number:
                    shown = projects.labels(self._conn)[number]
                self._conn.execute(NAME, (said, number, shown))
                self.done["projects"] += 1
        return number

    def _number(self, one: OwnProject) -> int:
        if projects.labelled(self._conn, one.label) is not None:
            return self._places.of(one.label)[0]
        if one.personal:
            return personal.project(self._conn, self._now).id
        return self._renamed(one) or self._places.of(one.label)[0]

    def _renamed(self, one: OwnProject) -> int | None:
        """One that still has the old name here; it can be taken back like any rename."""
        for said, _ in one.names:
            number = projects.labelled(self._conn, said)
            if number is not None and projects.labels(self._conn)[number] == said:
                try:
                    regroup.rename(self._conn, said, one.label, self._now)
                except MemError:
                    return number
                self.done["projects"] += 1
                return number
        return None

    def _is_free(self, name: str) -> bool:
        return name != projects.GENERAL and projects.labelled(self._conn, name) is None

    def _merged(self, one: OwnProject, number: int) -> bool:
        """Whether it was made one with another now; what somebody did here is left so."""
        target = projects.labelled(self._conn, one.merged_into) if one.merged_into else None
        sql = "SELECT 1 FROM projects WHERE id = ? AND (merged_into IS NOT NULL OR kind = ?)"
        if target is None or fetch.row(self._conn, sql, number, projects.GENERAL):
            return False
        try:
            links.link(self._conn, number, target)
        except InvalidInput:  # the other way round here, or the general bucket
            return False
        return True

    # Memories --------------------------------------------------------------------------

    def _pin(self, kind: DocKind, number: int, at_ms: int) -> bool:
        if correct.pinned(self._conn, kind, number):
            return False
        correct.pin(self._conn, kind, number, min(at_ms, self._now))
        return True

    def _promote(self, number: int) -> bool:
        """Behind those that are here; whether there was room, and it still holds."""
        if number in personal.ids(self._conn):
            return False
        try:
            personal.promote(self._conn, number, None, self._now)
        except MemError:
            return False
        return True


# Reading ------------------------------------------------------------------------------------


def _list(value: Any, name: str, most: int) -> Sequence[Any]:
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > most:
        raise InvalidInput(f"{name} must be a list of {most:,} entries at most")
    return value


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInput(f"{KEY}.{name} must hold objects")
    return value


def _whole(value: Any) -> int:
    if (
        isinstance(value, bool)
        or not isinstance(value, int)
        or not 0 <= value <= text.LATEST_MS
    ):
        raise InvalidInput(f"{KEY} holds a number or a time that is none")
    return value


def _id(value: Any, name: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{KEY}.{name} must name memories by their ids")
    return str(value)


def _kind(one: Mapping[str, Any]) -> DocKind:
    if one.get("kind") not in {DocKind.OBSERVATION, DocKind.SUMMARY}:
        raise InvalidInput(f"{KEY}.pins: observations and summaries are pinned")
    return DocKind(one["kind"])


def _said(one: Mapping[str, Any]) -> tuple[str, int, bool, int]:
    useful = min(_whole(one.get("useful")), feedback.MOST)
    return (
        _id(one.get("id"), "feedback"),
        useful,
        bool(one.get("outdated")),
        _whole(one.get("at")),
    )


def _project(value: Any, cleaner: Cleaner) -> OwnProject:
    one = _object(value, "projects")
    aliases = _list(one.get("aliases"), f"{KEY}.projects.aliases", MOST_NAMES)
    names = _list(one.get("names"), f"{KEY}.projects.names", MOST_NAMES)
    if any(not isinstance(pair, list) or len(pair) != 2 for pair in names):
        raise InvalidInput(f"{KEY}.projects.names must hold pairs")
    return OwnProject(
        label=_name(one.get("label"), cleaner),
        aliases=tuple(_name(alias, cleaner) for alias in aliases),
        names=tuple((_name(said, cleaner), _name(shown, cleaner)) for said, shown in names),
        merged_into=_name(one["merged_into"], cleaner) if one.get("merged_into") else "",
        personal=one.get("personal") is True,
    )


def _name(value: Any, cleaner: Cleaner) -> str:
    name = cleaner.text(text.safe(value), "tool").strip() if isinstance(value, str) else ""
    if not name or len(name) > LONGEST or not name.isprintable():
        raise InvalidInput(f"{KEY}.projects: a name has 1 to {LONGEST} characters")
    return name
