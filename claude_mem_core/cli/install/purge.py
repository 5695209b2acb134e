"""Deletes what is ours in the data directory; it may be shared with a claude-mem."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from claude_mem_core.paths import Paths

FOREIGN = ("claude-mem.db",)  # with this beside us, `settings.json` is not ours alone


def ours(paths: Paths) -> list[Path]:
    """Everything of ours that is there."""
    single = [
        paths.token,
        paths.socket,
        paths.socket_elsewhere,
        paths.port,
        paths.pid,
        paths.lock,
        paths.heartbeat,
        paths.edge,
        paths.worker_argv,
        paths.plugin_index,
    ]
    folders = [
        paths.spool,
        paths.hook,
        paths.logs,
        paths.snapshots,
        paths.backups,
        paths.data / "hosts",
    ]
    store = sorted(paths.data.glob("memory.db*")) if paths.data.is_dir() else []
    shared = any((paths.data / name).exists() for name in FOREIGN)
    settings = [] if shared else [paths.settings]
    return [p for p in (*store, *single, *folders, *settings) if os.path.lexists(p)]


def purge(paths: Paths) -> list[str]:
    """Stop the worker and delete; the names of what went.

    Raises:
        WorkerError: the worker does not stop; nothing was deleted.
    """
    _stop(paths)
    gone = [_delete(path) for path in ours(paths)]
    with suppress(OSError):
        paths.data.rmdir()
    return gone


def _stop(paths: Paths) -> None:
    from claude_mem_core.cli.launch import stop

    if paths.data.is_dir():
        stop(paths)


def _delete(path: Path) -> str:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
    return path.name
