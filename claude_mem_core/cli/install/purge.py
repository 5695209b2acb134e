"""Deletes what is ours in the data directory, by name: it may be shared, or be a home."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from claude_mem_core.paths import Paths

OURS = (
    "memory.db*", "token", "w.sock*", "edge.json", "spool", "hook", "worker.argv",
    "worker.lock", "worker.err", "worker-*.json", "notice.json", "plugins*.json",
    "plugins*.lock", "snapshots", "backups", "hosts", "lost.count", "starting", "mute", "patient",
    "open.html", "settings.lock", "settings.set", ".env.lock", "usage.db*",
    "provider-holds.json", "provider-keys.json", "keys.changed", "processor.lock",
)  # fmt: skip
# Names that a claude-mem in the same directory uses as well.
SHARED = (
    "settings.json", ".env", "logs", ".worker.pid", ".worker.port", "api-key-cooldown.json",
)  # fmt: skip
OTHER_STORE = "claude-mem.db"


def ours(paths: Paths) -> list[Path]:
    """Everything of ours that is there."""
    alone = not (paths.data / OTHER_STORE).exists()
    names = (*OURS, *SHARED) if alone else OURS
    return sorted({path for name in names for path in paths.data.glob(name)})


def purge(paths: Paths) -> list[str]:
    """Stop the worker and delete, keys in the keyring too; the names of what went.

    Raises:
        WorkerError: the worker does not stop; nothing was deleted.
        StoreError: the keyring does not give up a key; nothing else was deleted.
    """
    if not paths.data.is_dir():
        return []
    from claude_mem_core.cli.keyring import forget_all

    _stop(paths)
    keys = forget_all(paths)
    gone = [*keys, *(_delete(path) for path in ours(paths))]
    with suppress(OSError):
        paths.data.rmdir()
    return gone


def left(paths: Paths) -> list[str]:
    """What is still there."""
    return sorted(path.name for path in paths.data.iterdir()) if paths.data.is_dir() else []


def _stop(paths: Paths) -> None:
    from claude_mem_core.cli.launch import stop

    stop(paths)


def _delete(path: Path) -> str:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
    return path.name
