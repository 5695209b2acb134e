"""The files of a turn: what was done to each, and what of it is left at the end.

A change that was taken back is no change but an attempt; both are kept apart here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from claude_mem_core.observer.edits import Edit

LARGEST = 400_000  # characters of a file that is followed as a whole


@attrs.frozen
class Hunk:
    """A piece of text that became another one, from step `first` to step `last`."""

    old: str
    new: str
    first: int
    last: int


@attrs.frozen
class Attempt:
    """Changes of a file that were taken back by step `undone`."""

    path: str
    hunks: tuple[Hunk, ...]
    undone: int

    @property
    def first(self) -> int:
        """The step that began it."""
        return min(h.first for h in self.hunks)


@attrs.define
class File:
    """One file while the turn goes on.

    Attributes:
        before: text at the start of the turn; None when nobody told.
        now: text at present; None when not known.
        exists: whether it is there now; `existed`: whether it was at the start.
        hunks: what differs from the start, as pairs of text.
        writers: labels of commands that wrote it, the result unknown.
    """

    path: str
    before: str | None = None
    now: str | None = None
    existed: bool = True
    exists: bool = True
    hunks: list[Hunk] = attrs.field(factory=list)
    writers: list[str] = attrs.field(factory=list)
    steps: list[int] = attrs.field(factory=list)
    attempts: list[Attempt] = attrs.field(factory=list)
    saved: State | None = None

    @property
    def created(self) -> bool:
        """New in this turn, and still there."""
        return self.exists and not self.existed

    @property
    def deleted(self) -> bool:
        """Gone, and was there before."""
        return self.existed and not self.exists

    @property
    def changed(self) -> bool:
        """Whether it really differs at the end."""
        if self.existed != self.exists:
            return True
        if not self.exists:
            return False
        if self.before is not None and self.now is not None:
            return self.before != self.now
        return bool(self.hunks or self.writers)

    def state(self) -> State:
        """What a later undo goes back to."""
        return State(self.now, self.exists, tuple(self.hunks), tuple(self.writers))

    def edit(self, edit: Edit, step: int) -> None:
        """Take in one change made by a tool."""
        self._begin(edit)
        self.steps.append(step)
        if edit.old is None:
            self._written(edit.new, step)
            return
        new = edit.new or ""
        if self.now is not None:
            self.now = self.now.replace(edit.old, new, -1 if edit.every else 1)[:LARGEST]
        self._merge(edit.old, new, step)

    def written(self, text: str | None, step: int, label: str) -> None:
        """Take in that a command wrote it; `text` when that is known."""
        if not self.steps and self.before is None and text is not None and not self.hunks:
            self.existed = self.existed and text is None
        self.steps.append(step)
        if text is None:
            self.now, self.exists = None, True
            self.writers.append(label)
        else:
            self._written(text, step)

    def remove(self, step: int) -> None:
        """It was deleted."""
        self.steps.append(step)
        self.now, self.exists = "", False

    def undo(self, state: State | None, step: int) -> None:
        """Go back to `state` (None: the start of the turn)."""
        kept = state.hunks if state else ()
        lost = tuple(h for h in self.hunks if h not in kept)
        if lost:
            self.attempts.append(Attempt(self.path, lost, step))
        self.hunks = list(kept)
        self.writers = list(state.writers) if state else []
        self.now = state.now if state else self.before
        self.exists = state.exists if state else self.existed

    def settle(self) -> None:
        """At the end: a file that is as before had nothing but attempts."""
        if not self.changed and self.hunks:
            self.attempts.append(Attempt(self.path, tuple(self.hunks), self.steps[-1]))
            self.hunks = []

    def _begin(self, edit: Edit) -> None:
        if self.steps or edit.before is None:
            return
        self.existed = edit.before != "" or edit.old is not None
        if len(edit.before) <= LARGEST:
            self.before = self.now = edit.before
        if not self.existed:
            self.exists = False

    def _written(self, text: str | None, step: int) -> None:
        if text is None:
            self.now, self.exists = "", False
            return
        old = self.now if self.exists and self.now is not None else ""
        self.now, self.exists = text[:LARGEST], True
        if old != text:
            self._merge(old, text, step)

    def _merge(self, old: str, new: str, step: int) -> None:
        """Fold a replacement into an earlier one that it goes on with."""
        for at in range(len(self.hunks) - 1, -1, -1):
            hunk = self.hunks[at]
            if not old or old not in hunk.new:
                continue
            merged = hunk.new.replace(old, new, 1)
            if merged.strip() == hunk.old.strip():
                self.attempts.append(Attempt(self.path, (hunk,), step))
                del self.hunks[at]
            else:
                self._note_return(hunk, old, new, step)
                self.hunks[at] = Hunk(hunk.old, merged, hunk.first, step)
            return
        self.hunks.append(Hunk(old, new, step, step))

    def _note_return(self, hunk: Hunk, old: str, new: str, step: int) -> None:
        """A part of a larger change that goes back to what stood there before."""
        if new.strip() and new.strip() in hunk.old and old.strip() not in hunk.old:
            tried = Hunk(new, old, hunk.first, step)
            self.attempts.append(Attempt(self.path, (tried,), step))


@attrs.frozen
class State:
    """A file as it was at some moment."""

    now: str | None
    exists: bool
    hunks: tuple[Hunk, ...]
    writers: tuple[str, ...]


class Workspace:
    """All files of a turn, by their path from the project's root.

    `acted` is the last command that may have changed files unseen, `undone` are the
    paths that were taken back, `seen` those known to be there.
    """

    def __init__(self, seen: Iterable[str] = ()) -> None:
        self.files: dict[str, File] = {}
        self.undone: set[str] = set()
        self.acted = ""
        self.seen = set(seen)
        self._stash: dict[str, State] = {}

    def file(self, path: str) -> File:
        """The file at `path`, followed from now on."""
        return self.files.setdefault(path, File(path))

    def edit(self, edit: Edit, step: int) -> None:
        """One change by a tool; a text without a start is a deletion."""
        unseen = edit.path not in self.files and edit.path not in self.seen
        file = self.file(edit.path)
        if unseen and edit.old is None and edit.new is not None and edit.before is None:
            # Nobody read it before it was written as a whole: it was not there.
            edit = attrs.evolve(edit, before="")
        file.edit(edit, step)

    def move(self, old: str, new: str, step: int) -> None:
        """A file got another name."""
        source, target = self.file(old), self.file(new)
        target.existed = bool(target.steps) and target.existed
        target.written(source.now, step, f"moved from {old}")
        source.remove(step)

    def save(self) -> None:
        """A commit: from here an undo goes back to this."""
        for file in self.files.values():
            file.saved = file.state()

    def undo(self, path: str, step: int) -> None:
        """Take back `path`, or everything below it; `.` is the whole project."""
        self.undone.add(path)
        for file in self._below(path):
            file.undo(file.saved, step)

    def stash(self, step: int) -> None:
        """Put all changes aside."""
        self._stash = {p: f.state() for p, f in self.files.items() if f.changed}
        for path in self._stash:
            file = self.files[path]
            file.undo(file.saved, step)

    def unstash(self) -> None:
        """Put them back: they were never given up."""
        for path, state in self._stash.items():
            file = self.files[path]
            if file.attempts:
                file.attempts.pop()
            file.now, file.exists = state.now, state.exists
            file.hunks, file.writers = list(state.hunks), list(state.writers)
        self._stash = {}

    def settle(self) -> None:
        """The turn is over."""
        for file in self.files.values():
            file.settle()

    def changed(self) -> list[File]:
        """The files that differ at the end, in the order they were first touched."""
        return [f for f in self.files.values() if f.changed]

    def attempts(self) -> list[Attempt]:
        """What was tried and taken back, in order."""
        found = [a for f in self.files.values() for a in f.attempts]
        return sorted(found, key=lambda a: (a.first, a.undone, a.path))

    def _below(self, path: str) -> Iterator[File]:
        folder = path.rstrip("/") + "/"
        for name, file in list(self.files.items()):
            if path in (".", "./", "") or name == path or name.startswith(folder):
                yield file
