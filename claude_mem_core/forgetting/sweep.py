"""Secrets in what is stored already: found, and taken out of tables and snapshots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import apsw
import attrs

from claude_mem_core.clean.cleaner import CleaningFailed
from claude_mem_core.errors import StoreError
from claude_mem_core.forgetting import apart, copies, rows
from claude_mem_core.forgetting.copies import Done
from claude_mem_core.recall import feed
from claude_mem_core.redactor.secrets import marks
from claude_mem_core.store import connect, sweep
from claude_mem_core.store.sweep import Place, Swept

if TYPE_CHECKING:
    from claude_mem_core.pipeline.services import Services

Clean = Callable[[Any], Any]


@attrs.frozen(kw_only=True)
class Report:
    """What a sweep found or took out; `unread` are copies that could not be worked over."""

    found: Swept
    files: tuple[Done, ...] = ()
    unread: tuple[str, ...] = ()


async def scan(services: Services) -> Report:
    """How many secrets lie in the tables and the snapshots; nothing is written.

    Raises:
        CleaningFailed: a redactor failed.
    """
    clean = _cleaner(services)
    found = await _tables(services, clean, write=False)
    files, unread = await anyio.to_thread.run_sync(partial(_copies, services, clean, write=False))
    return Report(found=found, files=files, unread=unread)


async def take_out(services: Services) -> Report:
    """Put a marker in the place of each secret, everywhere, and leave no gap that has it.

    Raises:
        CleaningFailed: a redactor failed; what was not reached is as it was.
        StoreError: it can't be written.
    """
    clean = _cleaner(services)
    found = await _tables(services, clean, write=True)
    await services.loop.forget_talks()
    await services.indexer.catch_up()
    await services.store.awrite(feed.tidy)
    files, unread = await anyio.to_thread.run_sync(partial(_copies, services, clean, write=True))
    if found:
        await apart.tidied(services.paths, [])
    return Report(found=found, files=files, unread=unread)


def _cleaner(services: Services) -> Clean:
    return services.cleaners.current(services.settings.current()).secrets


def _counts(before: str, after: str) -> Mapping[str, int]:
    return Counter(marks(after)) - Counter(marks(before))


async def _tables(services: Services, clean: Clean, *, write: bool) -> Swept:
    total, place = Swept(), sweep.begin()
    while True:
        step = partial(_step, place=place, clean=clean, write=write)
        store = services.store
        found, following = await (store.awrite(step) if write else store.aread(step))
        total += found
        if following is None:
            return total
        place = following


def _step(
    conn: apsw.Connection, place: Place, clean: Clean, *, write: bool
) -> tuple[Swept, Place | None]:
    return sweep.step(conn, place, clean, _counts, write=write)


# Copies -------------------------------------------------------------------------------------


def _copies(
    services: Services, clean: Clean, *, write: bool
) -> tuple[tuple[Done, ...], tuple[str, ...]]:
    done: list[Done] = []
    unread: list[str] = []
    for path in copies.databases(services.paths):
        name = str(path.relative_to(services.paths.data))
        try:
            if _due(path, clean):
                if write:
                    rows.worked_over(path, lambda conn: _all(conn, clean))
                done.append(Done(name, "rewritten"))
        except (apsw.Error, OSError, StoreError, CleaningFailed):
            unread.append(name)
    return tuple(done), tuple(unread)


def _due(path: Path, clean: Clean) -> bool:
    conn = connect.reader(path)
    try:
        return any(sweep.iterate(conn, clean, _counts, write=False))
    finally:
        conn.close(True)


def _all(conn: apsw.Connection, clean: Clean) -> None:
    with connect.transaction(conn):
        for _ in sweep.iterate(conn, clean, _counts, write=True):
            pass
