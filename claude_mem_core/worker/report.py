"""The state of the worker in one answer, as `mem status` and `mem doctor` show it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import apsw

from claude_mem_core import edge
from claude_mem_core.errors import StoreDamaged, StoreError, StoreForeign
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.store import counters, fetch, identity, links, migrations, queue, text
from claude_mem_core.worker import room
from claude_mem_core.worker.health import health
from claude_mem_core.worker.spec import Call

if TYPE_CHECKING:
    from claude_mem_core.plugins.registry import Registry
    from claude_mem_core.settings import Settings

NEXT_HOST = "SELECT host FROM events WHERE host > ? ORDER BY host LIMIT 1"
LOSS_MS = 7 * 86_400_000
NEWEST = "SELECT max(received_ms) FROM events WHERE host = ?"


async def state_of(call: Call) -> dict[str, Any]:
    """Everything that is cheap to know."""
    services = call.services
    try:
        found = await services.store.aread(_from_store)
    except StoreError as error:  # that is what the status is asked for
        call.worker.note("store", str(error))
        found = {"queue": None, "hosts": {}, "counters": {}, "clones": [], "counted": {}}
    settings, counted = services.settings.current(), found.pop("counted")
    call.worker.note("disk", await anyio.to_thread.run_sync(room.fault, services.paths.data))
    return {
        **health(call.worker, services),
        **found,
        "database": database(services.paths.database),
        "plugins": plugins(services.registry),
        "settings": settings_state(settings),
        "spool": {**call.worker.spooled, **spool_counts(services.paths.spool)},
        "lost": edge.lost(services.paths),
        "loss": loss(counted, edge.lost(services.paths)),
        "indexes": {"backends": list(services.indexer.backends), "faults": services.indexer.faults},
        "sinks": services.sinks.state(),
        "models": await services.models.state(),
        "test_event": last.as_json() if (last := services.tests.last) else None,
        "tcp": {"port": call.worker.tcp.port, "note": call.worker.tcp.note},
    }


def _from_store(conn: apsw.Connection) -> dict[str, Any]:
    status = queue.status(conn, now_ms())
    waiting = {
        "pending": status.pending, "processing": status.processing, "failed": status.failed,
        "stuck": status.stuck,
    }  # fmt: skip
    clones = links.untold(conn, "status", links.clones(conn))
    return {
        "queue": waiting,
        "hosts": dict(_hosts(conn)),
        "counters": counters.since(conn, ""),
        "counted": counters.since(conn, text.day(now_ms() - LOSS_MS)),
        "clones": [clone.offer for clone in clones],
    }


def _hosts(conn: apsw.Connection) -> Iterator[tuple[str, int]]:
    """Each host and when it last reported, a step in the index for each."""
    name = ""
    while True:
        found = fetch.value(conn, NEXT_HOST, name)
        if found is None:
            return
        name = str(found)
        yield name, int(fetch.value(conn, NEWEST, name))


def loss(counted: Mapping[str, int], now: int) -> dict[str, Any]:
    """The share of events that hooks could not keep; `now` were not told of yet."""
    accepted, lost = counted.get("accepted", 0), counted.get("lost", 0) + now
    return {"accepted": accepted, "lost": lost, "rate": lost / max(1, accepted + lost)}


def database(path: Path) -> dict[str, Any]:
    """Where the database is and how large."""
    if not path.exists():
        return {"path": str(path), "size": 0, "wal": 0, "state": "none yet"}
    try:
        size = path.stat().st_size
        wal = Path(f"{path}-wal")
        return {
            "path": str(path), "size": size, "wal": wal.stat().st_size if wal.exists() else 0,
            "state": _looks(path),
        }  # fmt: skip
    except OSError as error:
        return {"path": str(path), "size": 0, "wal": 0, "state": str(error.strerror)}


def _looks(path: Path) -> str:
    """In a few words, by its first bytes; `mem db check` looks at all of it."""
    try:
        identity.check(path, migrations.VERSION)
    except (StoreDamaged, apsw.Error):
        return "damaged: `mem db repair`"
    except StoreForeign:
        return "left alone: not ours, or of a newer version"
    except StoreError:
        return "no file that can be used"
    return "ok"


def plugins(registry: Registry) -> list[dict[str, str]]:
    """Every plugin with its state and fault."""
    return [
        {"name": name, "state": p.state.value, "package": p.package, "version": p.version,
         "error": p.error}
        for name, p in sorted(registry.plugins.items())
    ]  # fmt: skip


def settings_state(settings: Settings) -> dict[str, Any]:
    """What is wrong with the settings."""
    return {"warnings": list(settings.warnings), "broken": settings.broken}


def spool_counts(folder: Path) -> dict[str, int]:
    """How many deliveries wait on disk, and how many were rejected."""
    return {"waiting": _count(folder), "rejected": _count(folder / "rejected", suffix="")}


def _count(folder: Path, suffix: str = ".ev") -> int:
    try:
        with os.scandir(folder) as entries:
            return sum(entry.name.endswith(suffix) for entry in entries)
    except OSError:
        return 0
