"""From rows that were read to rows that are kept and found; beside the worker, or without."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import attrs

from claude_mem_core.errors import MemError
from claude_mem_core.extensions import registry_of
from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.pipeline.index import Indexer
from claude_mem_core.pipeline.off import leave_out
from claude_mem_core.pipeline.record import Cleaners
from claude_mem_core.projects import Place, place_of
from claude_mem_core.store import Store, imports, meta, offer
from claude_mem_core.store.imports.records import Kind

if TYPE_CHECKING:
    from claude_mem_core.clean.cleaner import Cleaner

CLAUDE_MEM = "claude-mem"  # the source that its own database is
MOST_PLACES = 5_000  # directories that are looked at to tell where projects are

Read = Callable[["Cleaner"], imports.Staged]


@attrs.frozen
class Importing:
    """An opened store, and the cleaner for what comes in."""

    store: Store
    cleaner: Cleaner
    settings: Mapping[str, Any]

    def keep(
        self, staged: imports.Staged, source: str, places: Mapping[str, Place]
    ) -> imports.Counts:
        """Write what was staged, in one transaction."""
        now = now_ms()
        return self.store.write(
            lambda conn: imports.keep(conn, staged, now, source, places)
        ).result()


@contextmanager
def importing(paths: Paths) -> Iterator[Importing]:
    """Open the store for an import; in the end the search backends follow.

    Raises:
        MemError: recording is stopped; nothing may be written.
        StoreError: the database can't be used.
    """
    import anyio

    secure_dir(paths.data)
    settings, registry = registry_of(paths)
    fault = registry.recording_fault()
    if fault is not None:
        raise MemError(f"nothing is imported while recording is stopped: {fault}")
    store = Store.open(paths.database)
    try:
        current = settings.current()
        cleaner = Cleaners(registry, store.read(meta.fence_id)).current(current)
        yield Importing(store, cleaner, current)
        indexer = Indexer(store, registry, settings)
        indexer.open()
        anyio.run(indexer.catch_up)
    finally:
        store.close()


def taken_in(paths: Paths, read: Read, source: str = "import") -> imports.Counts:
    """Stage rows, keep them in one transaction, let the search backends follow.

    Those of folders where memory is off are left out.

    Raises:
        MemError: recording is stopped, or a redactor failed; nothing was written.
        InvalidInput: what `read` refuses; nothing was written.
        StoreError: the database can't be used; nothing was written.
    """
    with importing(paths) as work, closing(read(work.cleaner)) as staged:
        work.store.read(lambda conn: leave_out(conn, staged, work.settings))
        counts = work.keep(staged, source, known_places(staged, work.settings))
        if source == CLAUDE_MEM:
            work.store.write(lambda conn: offer.close(conn, now_ms())).result()
        return counts


def known_places(staged: imports.Staged, settings: Mapping[str, Any]) -> dict[str, Place]:
    """Where on this machine a project is, when all its directories that exist agree.

    Without this the memories would belong to a mere name, and a session in that very
    directory would not be given them.
    """
    seen: set[tuple[str, str]] = set()
    found: dict[str, dict[str, Place]] = {}
    for row in staged.rows(Kind.TOOL):
        pair = (row.project, row.text("cwd"))
        if pair in seen or len(seen) > MOST_PLACES or not all(pair):
            continue
        seen.add(pair)
        place = _place(*pair, settings)
        if place is not None:
            found.setdefault(row.project, {})[place.key] = place
    return {label: next(iter(p.values())) for label, p in found.items() if len(p) == 1}


def _place(label: str, cwd: str, settings: Mapping[str, Any]) -> Place | None:
    """The place of a directory that is there, if it is called so."""
    if not os.path.isabs(cwd) or not os.path.isdir(cwd):
        return None
    place = place_of(cwd, settings, "")
    return place if label in {place.label, place.worktree_label} else None
