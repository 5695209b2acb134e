"""Imported rows of folders where memory is off: left out and counted, as they are at the door.

A row has a label, seldom a directory. What is known of the label decides: the user's
patterns for names, the directories that the import itself tells of it, and those where
sessions of that name were recorded here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import apsw
import attrs

from claude_mem_core.projects import Place, excluded, place_of
from claude_mem_core.projects.globs import matches_any
from claude_mem_core.store import fetch, projects
from claude_mem_core.store.imports import Staged
from claude_mem_core.store.imports.places import NO_PROJECT
from claude_mem_core.store.imports.records import Incoming, Kind

OFF = "rows of folders where memory is off"
MOST = 100  # directories of one project that are looked at
RECORDED = f"""
  SELECT DISTINCT coalesce(nullif(root, ''), cwd) FROM sdk_sessions
  WHERE project_id = ?1 AND coalesce(nullif(root, ''), cwd, '') <> ''
    AND (project = ?2 OR project IN (SELECT said FROM project_names WHERE shown = ?2))
  LIMIT {MOST}
"""
SESSION = """
  SELECT project FROM sdk_sessions
  WHERE (?1 <> '' AND content_session_id = ?1) OR (?2 <> '' AND memory_session_id = ?2) LIMIT 1
"""


def leave_out(conn: apsw.Connection, staged: Staged, settings: Mapping[str, Any]) -> int:
    """Take out of `staged` what the door would not let in; how many rows that were."""
    rules = Rules(conn, staged, settings)
    count = sum(staged.discard(kind, rules.is_off) for kind in Kind)
    staged.own = attrs.evolve(
        staged.own,
        projects=tuple(one for one in staged.own.projects if not rules.is_label_off(one.label)),
    )
    if count:
        staged.left_out[OFF] = count
    return count


class Rules:
    """Whether memory is on for rows; each label and each directory is asked about once."""

    def __init__(
        self, conn: apsw.Connection, staged: Staged, settings: Mapping[str, Any]
    ) -> None:
        self._conn = conn
        self._settings = settings
        self._directories: dict[str, bool] = {}
        self._told: dict[str, set[str]] = {}  # directories that the import tells, by label
        self._sessions: dict[str, str] = {}  # labels, by the names of sessions
        for row in staged.rows(Kind.SESSION):
            for name in (row.origin.content_id, row.origin.memory_id):
                self._sessions[name] = row.project
        for row in staged.rows(Kind.TOOL):
            self._note(row)
        self._labels: dict[str, bool] = {}

    def is_off(self, row: Incoming) -> bool:
        """Whether a row is of a folder where nothing is recorded."""
        cwd = row.text("cwd")
        if cwd and self._is_directory_off(cwd):
            return True
        labels = {row.project or self._of_session(row), row.merged_into} - {""}
        return any(map(self.is_label_off, labels or {NO_PROJECT}))

    def is_label_off(self, label: str) -> bool:
        """Whether rows of that name are; one of its directories is enough."""
        if label not in self._labels:
            self._labels[label] = self._judged(label)
        return self._labels[label]

    def _judged(self, label: str) -> bool:
        if self._is_named("CLAUDE_MEM_EXCLUDED_PROJECTS", label):
            return True
        here = list(self._here(label))
        if here:
            return any(map(self._is_directory_off, here))
        asked = bool(self._settings.get("CLAUDE_MEM_OPT_IN"))
        return asked and not self._is_named("CLAUDE_MEM_INCLUDED_PROJECTS", label)

    def _is_named(self, setting: str, label: str) -> bool:
        """Whether the label itself is meant, as a folder of that name would be."""
        patterns = self._settings.get(setting) or ()
        names = [one for one in patterns if "/" not in one.replace("\\", "/")]
        return label in patterns or matches_any(f"/{label}", names, "")

    def _here(self, label: str) -> Iterator[str]:
        yield from self._told.get(label, ())
        number = projects.labelled(self._conn, label)
        if number is not None:
            for (directory,) in fetch.rows(self._conn, RECORDED, number, label):
                yield directory

    def _is_directory_off(self, directory: str) -> bool:
        if directory not in self._directories:
            place = place_of(directory, self._settings, "")
            self._directories[directory] = excluded(place, directory, self._settings)
        return self._directories[directory]

    def _note(self, row: Incoming) -> None:
        """A directory of that name is the project's own; one below it may be anything."""
        cwd, told = row.text("cwd"), self._told.setdefault(row.project, set())
        if not row.project or not os.path.isabs(cwd) or len(told) >= MOST:
            return
        place: Place = place_of(cwd, self._settings, "")
        if row.project in {place.label, place.worktree_label}:
            told.add(place.root or cwd)

    def _of_session(self, row: Incoming) -> str:
        """The label of the session that a row belongs to, which names none itself."""
        origin = row.origin
        for name in (origin.content_id, origin.memory_id):
            if name and name in self._sessions:
                return self._sessions[name]
        return str(fetch.value(self._conn, SESSION, origin.content_id, origin.memory_id) or "")
