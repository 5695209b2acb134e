"""Starting the worker from the command line, and waiting until it answers."""

from __future__ import annotations

import os
import select
import subprocess
import time
from pathlib import Path
from typing import Any

import attrs

from claude_mem_core import __version__
from claude_mem_core.cli.client import WorkerClient
from claude_mem_core.edge import recorded_environment
from claude_mem_core.errors import WorkerError
from claude_mem_core.paths import Paths
from claude_mem_core.settings import SettingsSource
from claude_mem_core.worker import process, reclaim, recycle
from claude_mem_core.worker.main import Options

START_S = 30.0


@attrs.frozen
class Started:
    """A running worker. `fresh`: this call started it."""

    health: dict[str, Any]
    fresh: bool
    note: str = ""


def start(paths: Paths, *, tcp: bool = False, port: int = 0) -> Started:
    """Make sure that a worker of this version runs.

    Raises:
        WorkerError: it can't be started; the text says why.
    """
    health = _present(paths)
    note = ""
    if health is not None:
        note = _recycled(paths, health)
        health = health if note else _present(paths)
    if health is None:
        _may_start(paths)
        health = _launch(paths, Options(data_dir=paths.data, tcp=tcp, port=port))
        return Started(_opened(paths, health, tcp=tcp or bool(port)), fresh=True)
    return Started(_opened(paths, health, tcp=tcp or bool(port)), fresh=False, note=note)


def _opened(paths: Paths, health: dict[str, Any], *, tcp: bool) -> dict[str, Any]:
    """The health with a TCP port, if wished; a hook's worker that won the race has none."""
    if tcp and not health.get("port"):
        opened = WorkerClient(paths).post("/api/admin/open", {"code": False})
        return {**health, "port": opened["port"]}
    return health


def _present(paths: Paths) -> dict[str, Any] | None:
    """The health of the worker that runs; a wedged one is ended."""
    client = WorkerClient(paths)
    try:
        return client.health()
    except WorkerError:
        if reclaim.from_wedged(paths):
            return None
        raise


def _recycled(paths: Paths, health: dict[str, Any]) -> str:
    """Stop a worker of another version; what to tell when it stays."""
    theirs = str(health.get("version"))
    if theirs == __version__ or not _autostart(paths):
        return ""
    if recycle.failed_before(paths, theirs, str(health.get("start_id"))):
        return f"a worker of version {theirs} goes on: it could not be stopped before"
    if reclaim.stop(paths, reason="upgrade"):
        return ""
    recycle.note_failure(paths, theirs, str(health.get("start_id")))
    return f"the worker of version {theirs} could not be stopped; it goes on"


def _autostart(paths: Paths) -> bool:
    return bool(SettingsSource(paths).current()["CLAUDE_MEM_WORKER_AUTOSTART"])


def _may_start(paths: Paths) -> None:
    if not _autostart(paths):
        raise WorkerError(
            "CLAUDE_MEM_WORKER_AUTOSTART is off: run the worker yourself with `mem run`"
        )


def _launch(paths: Paths, options: Options) -> dict[str, Any]:
    """Start one and wait for its first answer."""
    end = time.monotonic() + START_S
    while True:
        health = _attempt(paths, options, end)
        if health is not None:
            return health


def _attempt(paths: Paths, options: Options, end: float) -> dict[str, Any] | None:
    """One try; None when it made room for another worker, and that one has ended."""
    read, write = os.pipe()
    try:
        child = subprocess.Popen(
            options.argv(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=write,
            env=recorded_environment(os.environ), cwd=Path("/"), start_new_session=True,
        )  # fmt: skip
        os.close(write)
        return _await(paths, child, read, end)
    finally:
        os.close(read)


def _await(
    paths: Paths, child: subprocess.Popen[bytes], read: int, end: float
) -> dict[str, Any] | None:
    """The worker closes its standard error when it is up, or ends with a reason on it."""
    said = _until_closed(read, end)
    client = WorkerClient(paths)
    while time.monotonic() < end:
        code = child.poll()
        if code not in (None, 0):
            raise WorkerError(_reason(said) or f"the worker ended with code {code}")
        health = client.health(timeout=max(1.0, end - time.monotonic()))
        if health is not None:
            child.returncode = 0  # it lives on without us; nobody has to wait for it
            return health
        if code == 0 and not process.is_held(paths):
            return None
        time.sleep(0.02)
    raise WorkerError(
        f"the worker did not answer within {START_S:g} s; `mem logs` may say why"
    )


def _until_closed(read: int, end: float) -> bytes:
    said = b""
    while (left := end - time.monotonic()) > 0:
        if not select.select([read], [], [], left)[0]:
            break
        part = os.read(read, 65_536)
        if not part:
            break
        said = (said + part)[-65_536:]
    return said


def _reason(said: bytes) -> str:
    """The last line that the worker printed, without its `mem: `."""
    lines = [line for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("mem: ") if lines else ""


def stop(paths: Paths) -> bool:
    """Stop the worker; False when none ran.

    Raises:
        WorkerError: it does not stop.
    """
    if not process.is_held(paths):
        return False
    if not reclaim.stop(paths):
        raise WorkerError("the worker does not stop; `mem doctor` names its process")
    return True
