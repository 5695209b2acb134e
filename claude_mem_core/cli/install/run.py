"""The course of `mem install` and `mem uninstall`: plan, show, ask, do, report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.cli.install.apply import Applied, ChangedMeanwhile, apply
from claude_mem_core.cli.install.diff import unified
from claude_mem_core.cli.install.hosts import Target
from claude_mem_core.errors import MemError
from claude_mem_core.paths import Paths
from claude_mem_core.types import FileChange

Plan = Callable[[Target], Sequence[FileChange]]


@attrs.define
class Course:
    """What happens, or would happen, to one host.

    Attributes:
        target: the host.
        changes: the planned changes of files.
        applied: those that were made.
        error: why it could not be done; None when all is well.
        notes: what the installer wants people to know.
        plan: makes the plan anew.
    """

    target: Target
    changes: Sequence[FileChange] = ()
    applied: list[Applied] = attrs.field(factory=list)
    error: str | None = None
    notes: tuple[str, ...] = ()
    plan: Plan | None = None

    def state(self, done: str) -> str:
        """One word: `failed`, `unchanged`, what was done, or `planned`."""
        if self.error is not None:
            return "failed"
        if not self.changes:
            return "unchanged"
        return done if self.applied else "planned"

    def row(self, done: str) -> dict[str, Any]:
        """The same for machines."""
        backups = {applied.path: applied.backup for applied in self.applied}
        return {
            "host": self.target.name,
            "state": self.state(done),
            "error": self.error,
            "notes": list(self.notes),
            "changes": [
                {"path": c.path, "diff": unified(c), "backup": backups.get(c.path)}
                for c in self.changes
            ],
        }


def planned(targets: Sequence[Target], plan: Plan) -> list[Course]:
    """Plan for each host; one that can't be planned keeps its error."""
    return [_planned(target, plan) for target in targets]


def _planned(target: Target, plan: Plan) -> Course:
    try:
        return Course(target, plan(target), plan=plan)
    except MemError as error:
        return Course(target, error=str(error))


def carry_out(courses: Sequence[Course], paths: Paths) -> None:
    """Make the planned changes; a host whose change fails does not stop the others."""
    for course in courses:
        try:
            for change in course.changes if course.error is None else ():
                course.applied += _made(course, change, paths)
        except MemError as error:
            course.error = str(error)


def _made(course: Course, change: FileChange, paths: Paths) -> list[Applied]:
    """Make one change. Some hosts write a file at every turn: it is tried once more."""
    try:
        return [apply(change, paths)]
    except ChangedMeanwhile:
        if course.plan is None:
            raise
        anew = [c for c in course.plan(course.target) if c.path == change.path]
        if not anew:  # another host has made it already, one that shares the file
            course.changes = [c for c in course.changes if c is not change]
        return [apply(one, paths) for one in anew]


def show(courses: Sequence[Course], paths: Paths) -> None:
    """Print the diffs, without those of our own files."""
    for course in courses:
        for change in course.changes:
            if not change.path.startswith(f"{paths.data}/"):
                emit(unified(change))
                emit()


def report(courses: Sequence[Course], done: str, paths: Paths) -> None:
    """Print a line for each host, and where the copies of its files are."""
    for course in courses:
        emit(f"{course.target.title}: {course.state(done)}")
        if course.error is not None:
            emit(f"  {course.error}")
        for applied in course.applied:
            if applied.backup:
                emit(f"  {applied.path} (as it was: {paths.backups / applied.backup})")
            elif not applied.path.startswith(f"{paths.data}/"):
                emit(f"  {applied.path}")
        for note in course.notes:
            if note == course.error:
                continue  # what stops the installer stops the look at the host, too
            emit(f"  note: {note}")


def report_json(courses: Sequence[Course], done: str, paths: Paths, **more: Any) -> None:
    """Print the same for machines."""
    rows = [course.row(done) for course in courses]
    emit_json({"data_dir": str(paths.data), "hosts": rows, **more})


def exit_code(courses: Sequence[Course]) -> int:
    """1 when any host failed."""
    return 1 if any(course.error is not None for course in courses) else 0


def terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def agreed(question: str) -> bool:
    """Ask; anything but yes is no."""
    return answered(f"{question} [y/N] ").lower() in {"y", "yes"}


def answered(question: str) -> str:
    """Ask; the line that is typed."""
    sys.stdout.write(question)
    sys.stdout.flush()
    return sys.stdin.readline().strip()
