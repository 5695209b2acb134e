"""Marks memories whose file or symbol has changed or is gone since they were made.

It runs beside the answers, never before one: files are looked at by their times first and
read only when these changed; git is asked once for a memory that was made before anybody
looked, for the file as it was then. Nothing in the project is written.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

import attrs

from claude_mem_core import git
from claude_mem_core.errors import InvalidInput
from claude_mem_core.files import open_regular
from claude_mem_core.pipeline import symbols
from claude_mem_core.store import Store, staleness
from claude_mem_core.store.staleness import Cited, Watched

LARGEST = 1_000_000  # bytes of a file that is looked into
FRESH_MS = 600_000  # a memory this young speaks of the file as it is
ASKED_GIT = 20  # times in one pass
KNOWN = 4_096  # files whose state is kept in mind
GONE = "{path} is gone"
CHANGED = "{path} changed since"
SYMBOL_GONE = "{name} is no longer in {path}"
SYMBOL_CHANGED = "{name} in {path} changed since"

Stamp = tuple[int, int, int]


@attrs.define
class _File:
    """A file as it was last seen: when and how large, and digests of it."""

    stamp: Stamp
    digests: dict[tuple[str, ...], str] = attrs.field(factory=dict)


class Verifier:
    """Looks after the memories of the projects that were worked in last."""

    def __init__(self, store: Store, now_ms: Callable[[], int]) -> None:
        self._store = store
        self._now_ms = now_ms
        self._files: dict[str, _File] = {}
        self._asked = 0

    def check(self) -> bool:
        """One pass over all of them; whether a mark came or went. Call it in a thread."""
        self._asked = 0
        if len(self._files) > KNOWN:
            self._files = {}
        changed = False
        for project in self._store.read(staleness.active):
            changed |= self._project(project)
        return changed

    def confirm(self, number: int) -> None:
        """It holds as things are now; its mark goes. Raises NotFound."""
        cited = self._store.read(lambda conn: staleness.cited(conn, number))
        noted = [self._present(one) for one in cited]
        self._store.write(lambda conn: staleness.confirm(conn, number, noted)).result(30)

    def _project(self, project: int) -> bool:
        cited = self._store.read(lambda conn: staleness.unseen(conn, project))
        noted = [one for one in map(self._first_seen, cited) if one is not None]
        if noted:
            self._store.write(lambda conn: staleness.watch(conn, noted)).result(30)
        watched = self._store.read(lambda conn: staleness.watched(conn, project))
        reasons: dict[int, str] = {}
        for one in watched:
            reason = self._reason(one)
            if reason and one.memory_id not in reasons:
                reasons[one.memory_id] = reason
        now = self._now_ms()
        return self._store.write(
            lambda conn: staleness.mark(conn, project, reasons, now)
        ).result(30)

    def _first_seen(self, cited: Cited) -> Watched | None:
        """How it was when the memory was made; None to look again later."""
        if self._now_ms() - cited.created_ms < FRESH_MS:
            return self._present(cited)
        if self._asked >= ASKED_GIT:
            return None
        path = inside(cited.root, cited.path)
        if path is None:
            return _noted(cited, None)
        self._asked += 1
        then = git.file_at(cited.root, os.path.relpath(path, cited.root), cited.created_ms)
        if then is None:
            return self._present(cited)
        return _noted(cited, then.decode("utf-8", "surrogateescape"))

    def _present(self, cited: Cited) -> Watched:
        path = inside(cited.root, cited.path)
        return _noted(cited, None if path is None else _text(path))

    def _reason(self, one: Watched) -> str:
        """Why a memory is to be verified; empty when it needs not be."""
        path = inside(one.root, one.path)
        if path is None or not os.path.isdir(one.root):
            return ""  # the whole project is away: nothing can be told
        try:
            state = os.lstat(path)
        except OSError:
            return GONE.format(path=one.path)
        if not stat.S_ISREG(state.st_mode) or state.st_size > LARGEST:
            return ""
        now = self._digest(path, (state.st_mtime_ns, state.st_size, state.st_ino), one.symbols)
        if now is None or now == one.digest:
            return ""
        return _worded(one, gone=not now)

    def _digest(self, path: str, stamp: Stamp, names: tuple[str, ...]) -> str | None:
        """The digest as the file is now, read only when it may have changed."""
        known = self._files.get(path)
        if known is None or known.stamp != stamp:
            known = self._files[path] = _File(stamp)
        if names not in known.digests:
            source = _text(path)
            if source is None:
                return None
            known.digests[names] = symbols.digest(source, names)
        return known.digests[names]


def inside(root: str, path: str) -> str | None:
    """Where a memory's file lies, if that is inside its project on this machine."""
    if not os.path.isabs(root) or "\0" in path or path.startswith(("\\\\", "//")):
        return None
    full = os.path.normpath(os.path.join(root, path))
    base = os.path.realpath(root)
    real = os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))
    return real if real.startswith(base.rstrip(os.sep) + os.sep) else None


def _text(path: str) -> str | None:
    """A small regular file as text; nothing else is ever opened."""
    try:
        with open_regular(path, LARGEST) as file:
            return file.read(LARGEST).decode("utf-8", "surrogateescape")
    except (InvalidInput, OSError):
        return None


def _noted(cited: Cited, source: str | None) -> Watched:
    if source is None:
        return Watched(cited.memory_id, cited.path, cited.root, (), "")
    names = symbols.named(cited.words, source)
    found = symbols.digest(source, names)
    return Watched(cited.memory_id, cited.path, cited.root, names, found)


def _worded(one: Watched, *, gone: bool) -> str:
    names = ", ".join(one.symbols)
    if not one.symbols:
        return CHANGED.format(path=one.path)
    return (SYMBOL_GONE if gone else SYMBOL_CHANGED).format(name=names, path=one.path)
