"""A real worker process in a data directory of its own, for tests and measurements."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from claude_mem_core.edge import recorded_environment
from claude_mem_core.errors import WorkerError
from claude_mem_core.paths import Paths
from claude_mem_core.worker.ask import Raw, ask
from claude_mem_core.worker.main import Options

GIVE_UP_S = 30.0


@attrs.define
class LiveWorker:
    """One worker process.

    Attributes:
        ready_s: seconds from the start of the process to its first healthy answer.
    """

    paths: Paths
    process: subprocess.Popen[bytes]
    ready_s: float = 0.0

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def port(self) -> int:
        """The live TCP port."""
        return int(self.paths.port.read_text("ascii"))

    @property
    def token(self) -> str:
        """The install token."""
        return self.paths.token.read_text("ascii").strip()

    def ask(self, method: str, target: str, body: Any = None, timeout: float = 20.0) -> Raw:
        """One request over the socket; `body` is sent as JSON."""
        import json

        data = None if body is None else json.dumps(body).encode()
        return ask(self.paths, method, target, data, timeout)

    def stop(self) -> int:
        """End it in good order; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(GIVE_UP_S)

    def kill(self) -> None:
        """End it as a crash would."""
        self.process.kill()
        self.process.wait(GIVE_UP_S)

    def said(self) -> str:
        """What it printed to standard error before it ended."""
        return _errors(self.paths, self.pid).read_text("utf-8", "replace")

    def memory_mb(self, field: str = "VmRSS") -> float:
        """Resident memory in MB: now (`VmRSS`) or at most (`VmHWM`); 0 without /proc."""
        try:
            rows = Path(f"/proc/{self.pid}/status").read_text("ascii").splitlines()
        except OSError:
            return 0.0
        found = [row.split()[1] for row in rows if row.startswith(f"{field}:")]
        return round(int(found[0]) * 1024 / 1e6, 1) if found else 0.0


def spawn(
    paths: Paths, *, tcp: bool = False, port: int = 0, env: Mapping[str, str] | None = None,
    python: str = "",
) -> LiveWorker:  # fmt: skip
    """Start a worker process and return at once; `python` runs it in place of this one."""
    argv = Options(data_dir=paths.data, tcp=tcp, port=port).argv()
    argv[0] = python or argv[0]
    handle, said = tempfile.mkstemp(dir=paths.data.parent)
    process = subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=handle,
        env={**recorded_environment(os.environ), **(env or {})}, cwd="/", start_new_session=True,
    )  # fmt: skip
    os.close(handle)
    os.rename(said, _errors(paths, process.pid))
    return LiveWorker(paths, process)


def _errors(paths: Paths, pid: int) -> Path:
    """Where a worker's standard error goes; a file, so that nobody has to read it."""
    return paths.data.parent / f"worker-{pid}.err"


def start(
    paths: Paths, *, tcp: bool = False, port: int = 0, env: Mapping[str, str] | None = None,
    python: str = "",
) -> LiveWorker:  # fmt: skip
    """Start a worker and wait until it is healthy.

    Raises:
        WorkerError: it ended, or did not come up in 30 s.
    """
    begun = time.perf_counter()
    live = spawn(paths, tcp=tcp, port=port, env=env, python=python)
    until_healthy(live)
    live.ready_s = time.perf_counter() - begun
    return live


def until_healthy(live: LiveWorker) -> None:
    """Wait for the first healthy answer of that very process.

    Raises:
        WorkerError: it ended, or did not answer in 30 s.
    """
    end = time.monotonic() + GIVE_UP_S
    while time.monotonic() < end:
        if live.process.poll() is not None:
            raise WorkerError(f"the worker ended: {live.said()}")
        try:
            found = ask(live.paths, "GET", "/api/health", timeout=GIVE_UP_S).json
            if found and found["pid"] == live.pid:
                return
        except WorkerError:
            time.sleep(0.001)
    raise WorkerError("the worker did not come up")


@contextmanager
def data_dir() -> Iterator[Paths]:
    """A fresh data directory under a short path (sockets), removed at the end."""
    base = tempfile.mkdtemp(prefix="mem-")
    try:
        yield Paths(Path(base) / "d")
    finally:
        shutil.rmtree(base, ignore_errors=True)


@contextmanager
def running(
    *, tcp: bool = False, env: Mapping[str, str] | None = None, settings: str | None = None
) -> Iterator[LiveWorker]:
    """A healthy worker in a fresh directory; `settings` is the text of its file."""
    with data_dir() as paths:
        if settings is not None:
            paths.data.mkdir(mode=0o700)
            paths.settings.write_text(settings, "utf-8")
        live = start(paths, tcp=tcp, env=env)
        try:
            yield live
        finally:
            live.stop()
