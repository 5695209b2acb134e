"""From rows that were read to rows that are kept and found; beside the worker, or without."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from claude_mem_core.errors import MemError
from claude_mem_core.extensions import registry_of
from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.pipeline.index import Indexer
from claude_mem_core.pipeline.record import Cleaners
from claude_mem_core.projects import Place, place_of
from claude_mem_core.store import Store, imports, meta, offer
from claude_mem_core.store.imports.records import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from claude_mem_core.clean.cleaner import Cleaner

CLAUDE_MEM = "claude-mem"  # the source that its own database is
MOST_PLACES = 5_000  # directories that are looked at to tell where projects are

Read = Callable[["Cleaner"], imports.Staged]


def taken_in(paths: Paths, read: Read, source: str = "import") -> imports.Counts:
    """Stage rows, keep them in one transaction, let the search backends follow.

    Raises:
        MemError: recording is stopped, or a redactor failed; nothing was written.
        InvalidInput: what `read` refuses; nothing was written.
        StoreError: the database can't be used; nothing was written.
    """
    import anyio

    secure_dir(paths.data)
    settings, registry = registry_of(paths)
    fault = registry.recording_fault()
    if fault is not None:
        raise MemError(f"nothing is imported while recording is stopped: {fault}")
    store = Store.open(paths.database)
    try:
        own_id = store.read(meta.fence_id)
        cleaner = Cleaners(registry, own_id).current(settings.current())
        staged = read(cleaner)
        try:
            places = known_places(staged, settings.current())
            counts = _kept(store, staged, source, places)
            if source == CLAUDE_MEM:
                store.write(lambda conn: offer.close(conn, now_ms())).result()
        finally:
            staged.close()
        indexer = Indexer(store, registry, settings)
        indexer.open()
        anyio.run(indexer.catch_up)
        return counts
    finally:
        store.close()


def _kept(
    store: Store, staged: imports.Staged, source: str, places: Mapping[str, Place]
) -> imports.Counts:
    now = now_ms()
    return store.write(lambda conn: imports.keep(conn, staged, now, source, places)).result()


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
