"""The cures that `mem repair` applies; each says what it did."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from claude_mem_core import edge
from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths
from claude_mem_core.worker import process, reclaim
from claude_mem_core.worker.lock import clear_place
from claude_mem_core.worker.sockets import socket_path

TEMP_AGE_S = 60.0


def mend(paths: Paths) -> Iterator[str]:
    """Apply every cure that needs no decision.

    Raises:
        StoreError: the data directory can't be used at all.
    """
    secure_dir(paths.data)
    try:
        yield from _modes(paths)
        yield from _leftovers(paths)
    except OSError as error:
        raise process.unusable(paths, error) from error
    yield from _hook(paths)
    yield from _worker(paths)
    yield from _rules(paths)
    yield from _index(paths)


def _modes(paths: Paths) -> Iterator[str]:
    """What lies in the data directory is for its owner alone."""
    for folder, folders, files in os.walk(paths.data):
        for name in (*folders, *files):
            path = Path(folder, name)
            state = path.lstat()
            if stat.S_ISLNK(state.st_mode) or not state.st_mode & 0o077:
                continue
            path.chmod(stat.S_IMODE(state.st_mode) & 0o700)
            yield f"closed {path} to others"


def _leftovers(paths: Paths) -> Iterator[str]:
    """Files of a worker that is gone, and what killed writers left behind."""
    if not process.is_held(paths):
        for path in (paths.pid, paths.port, paths.heartbeat, socket_path(paths)):
            if os.path.lexists(path):
                clear_place(path)
                with suppress(FileNotFoundError):
                    path.unlink()
                yield f"removed {path}, left behind by a former worker"
    for path in (paths.data / "mute", paths.data / "starting"):
        if path.exists() and not _went_well(path):
            path.unlink()
            yield f"removed {path}: hooks try again at once"


def _went_well(path: Path) -> bool:
    """Whether it only says that the last start of a worker succeeded."""
    try:
        words = path.read_text("ascii", "replace").split()
    except OSError:
        return False
    return len(words) == 3 and words[2] == "ok"


def _hook(paths: Paths) -> Iterator[str]:
    was_there = (paths.hook / "launch.py").exists()
    faults = edge.hook_faults(paths)
    edge.install_hook(paths)
    if not was_there:
        yield f"put the hook's files into {paths.hook}; `mem install` connects a host with them"
    elif faults:
        yield f"put {paths.hook} right: {'; '.join(map(_fault, faults))}"


def _fault(text: str) -> str:
    """What was wrong, without the advice that is followed here."""
    return text.partition(": run ")[0]


def _autostart(paths: Paths) -> bool:
    from claude_mem_core.settings import SettingsSource

    return bool(SettingsSource(paths).current()["CLAUDE_MEM_WORKER_AUTOSTART"])


def _worker(paths: Paths) -> Iterator[str]:
    """A worker that holds the lock and does not answer makes room for a new one."""
    from claude_mem_core.cli.launch import start

    if process.is_held(paths) and reclaim.from_wedged(paths):
        yield "ended a worker that did not answer"
    if not process.is_held(paths) and not _autostart(paths):
        yield (
            "no worker was started, CLAUDE_MEM_WORKER_AUTOSTART is off;"
            " run one yourself: `mem run`"
        )
        return
    found = start(paths)
    if found.fresh:
        yield f"started the worker (pid {found.health['pid']})"
    if found.note:
        yield found.note


def _rules(paths: Paths) -> Iterator[str]:
    """The rules for hooks, where a worker that runs has not made them anew yet."""
    from claude_mem_core.cli.pausing import own_id
    from claude_mem_core.extensions import registry_of

    if not paths.database.exists():
        return
    source, registry = registry_of(paths)
    policy = edge.policy_of(registry, source.current(), own_id(paths) or _fence_id(paths))
    if edge.publish(paths, policy):
        yield f"published the rules for hooks anew: {paths.edge}"


def _fence_id(paths: Paths) -> str:
    from claude_mem_core.store import meta
    from claude_mem_core.store.look import look

    return look(paths.database, meta.fence_id)


def _index(paths: Paths) -> Iterator[str]:
    """What can be made anew from the tables; damage of these is left to a decision."""
    from claude_mem_core.cli import upkeep
    from claude_mem_core.errors import MemError
    from claude_mem_core.store.check import only_parts, only_the_index

    if not paths.database.exists():
        return
    found = upkeep.findings(paths.database)
    if all(one.ok for one in found):
        return
    if not (only_parts(found) or only_the_index(found)):
        yield "the database is damaged: `mem db repair` saves what can be read of it"
        return
    try:
        upkeep.repair(paths)
    except MemError as error:
        yield f"the word index is damaged and could not be made anew: {error}"
    else:
        yield "made the word index anew"
