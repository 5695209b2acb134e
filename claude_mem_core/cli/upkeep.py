"""What `mem db` does: checks and repairs beside the worker, or with it kept out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from claude_mem_core.cli.emit import complain
from claude_mem_core.errors import MemError, NotFound, StoreError, StoreForeign, WorkerError
from claude_mem_core.paths import Paths
from claude_mem_core.store.check import Finding, check, finding, only_parts, only_the_index
from claude_mem_core.store.look import look
from claude_mem_core.worker.lock import WorkerLock

if TYPE_CHECKING:
    import apsw

    from claude_mem_core.projects import Place
    from claude_mem_core.store.expire import Age, Expired
    from claude_mem_core.store.salvage.repair import Repaired

TRIES = 3  # a hook may start a worker between our stopping one and taking its lock


@attrs.frozen
class Mended:
    """What `mem db repair` did: nothing, lost parts made again, a new index, a new file."""

    faults: tuple[str, ...] = ()
    remade: bool = False
    reindexed: int | None = None
    repaired: Repaired | None = None


@contextmanager
def worker_kept_out(paths: Paths) -> Iterator[None]:
    """Stop the worker, keep others from starting one, and start it again at the end.

    Raises:
        WorkerError: it does not stop, or comes back again and again.
    """
    from claude_mem_core.cli.client import WorkerClient

    health = WorkerClient(paths).health() if paths.lock.exists() else None
    lock = _locked(paths)
    try:
        yield
    finally:
        lock.release()
    if health is not None:
        _start_again(paths, health.get("port") or 0)


def _start_again(paths: Paths, port: int) -> None:
    """A worker that can't be started again is told of; the work itself is done."""
    from claude_mem_core.cli import launch

    try:
        launch.start(paths, tcp=bool(port), port=port)
    except MemError as error:
        complain(f"mem: {error}")


def _locked(paths: Paths) -> WorkerLock:
    from claude_mem_core.cli import launch

    for _ in range(TRIES):
        launch.stop(paths)
        lock = WorkerLock.acquire(paths.lock)
        if lock is not None:
            return lock
    raise WorkerError("the worker does not stay away: run `mem stop`, then this again")


# Looking ------------------------------------------------------------------------------


def findings(path: Path) -> list[Finding]:
    """Every check of the database; one that can't be opened is a finding too.

    Raises:
        NotFound: there is no database.
        StoreForeign: it is not ours.
    """
    from claude_mem_core.recall.audit import audit

    def checks(conn: apsw.Connection) -> list[Finding]:
        return [*check(conn), finding("index", audit, conn)]

    try:
        return look(path, checks)
    except (NotFound, StoreForeign):
        raise
    except StoreError as error:
        return [Finding("file", (str(error),))]


# Mending -------------------------------------------------------------------------------


def repair(paths: Paths, *, force: bool = False) -> Mended:
    """Mend what is damaged, in the gentlest way that helps.

    Raises:
        NotFound, StoreForeign: there is nothing of ours to mend.
        StoreError, WorkerError: it can't be done; the text says why.
    """
    found = findings(paths.database)
    faults = tuple(text for one in found for text in one.faults)
    if not faults and not force:
        return Mended()
    if not force and only_parts(found):
        return Mended(faults, remade=_opened(paths.database))
    if not force and only_the_index(found):
        return Mended(faults, reindexed=rebuild_index(paths))
    from claude_mem_core.store.salvage.repair import repair as salvage

    done = salvage(paths.database, _locator(paths), time.time_ns() // 1_000_000)
    return Mended(faults, repaired=done)


def _opened(path: Path) -> bool:
    """Opening makes lost indexes, triggers and views again."""
    from claude_mem_core.store import Store

    Store.open(path).close()
    return True


def _locator(paths: Paths) -> Callable[[str], Place]:
    """Tells the project of a directory, under the user's settings."""
    from claude_mem_core.projects import place_of
    from claude_mem_core.settings import SettingsSource

    settings = SettingsSource(paths).current()
    return lambda cwd: place_of(cwd, settings, "")


def rebuild_index(paths: Paths) -> int:
    """Make the word index anew from the tables; how many records it holds."""
    from claude_mem_core.recall import feed
    from claude_mem_core.recall.keyword import open_index
    from claude_mem_core.store import Store

    store = Store.open(paths.database)
    try:
        store.write(feed.remake).result()
        count = open_index(store).feed(1 << 60)
        store.write(feed.tidy).result()
        return count
    finally:
        store.close()


def delete_older(paths: Paths, age: Age) -> Expired:
    """Delete what is old, in small transactions, and let the index follow."""
    from claude_mem_core.recall import feed
    from claude_mem_core.recall.keyword import open_index
    from claude_mem_core.store import Store
    from claude_mem_core.store.expire import Expired, delete_some

    now, total = time.time_ns() // 1_000_000, Expired()
    store = Store.open(paths.database)
    try:
        while gone := store.write(lambda conn: delete_some(conn, age, now)).result():
            total += gone
            open_index(store).feed(1 << 60)
        if total:
            store.write(feed.tidy).result()
        return total
    finally:
        store.close()
