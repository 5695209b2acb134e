"""O13: left-over pid, lock and port files, whatever is in them."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.testing.worker import LiveWorker, running
from tests.worker_home import CASES, home, until, workers_of

FILE = CASES / "O13-stale-pid-lock-files" / "variants.json"
VARIANTS = json.loads(FILE.read_text("utf-8"))


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


@pytest.fixture(scope="module")
def other() -> Iterator[LiveWorker]:
    """A worker of another data directory."""
    with running() as worker:
        yield worker


def lay(path: Path, variant: dict[str, Any], numbers: dict[str, int]) -> None:
    """Put what the variant describes in the place of one of the worker's files."""
    path.unlink(missing_ok=True)
    if "bytes" in variant:
        path.write_text(variant["bytes"])
    elif "bytes_hex" in variant:
        path.write_bytes(bytes.fromhex(variant["bytes_hex"]))
    elif variant.get("mkdir"):
        path.mkdir()
    elif "symlink" in variant:
        path.symlink_to(variant["symlink"])
    else:
        number = variant["pid"]
        given = {k: v for k, v in variant.items() if k in {"pid", "start_time"}}
        given["pid"] = numbers.get(str(number).strip("{}"), number)
        path.write_text(json.dumps(given))
    if "mtime" in variant:
        at = datetime.fromisoformat(variant["mtime"]).timestamp()
        os.utime(path, (at, at))


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=[v["name"] for v in VARIANTS])
def test_o13(
    variant: dict[str, Any], sleeper: subprocess.Popen[bytes], other: LiveWorker
) -> None:
    with home() as made:
        made.install()
        numbers = {
            "SLEEP_PID": sleeper.pid, "RUNNER_PID": os.getppid(), "OTHER_WORKER_PID": other.pid,
        }  # fmt: skip
        for path in (made.paths.pid, made.paths.lock, made.paths.port, made.paths.heartbeat):
            lay(path, variant, numbers)
        (made.paths.data / "starting").unlink(missing_ok=True)

        begun = time.monotonic()
        assert made.prompt("after the crash").returncode == 0
        until(lambda: workers_of(made.paths) and made.status()["running"])
        assert time.monotonic() - begun < 15
        until(lambda: made.prompts() == ["after the crash"])

        state = made.status()
        (worker,) = workers_of(made.paths)
        assert state["pid"] == worker
        assert json.loads(made.paths.pid.read_bytes())["pid"] == worker
        assert made.mem("start").returncode == 0
        assert workers_of(made.paths) == [worker]
        assert made.mem("stop").returncode == 0
        until(lambda: workers_of(made.paths) == [])
        assert not made.paths.pid.exists()
        assert not made.paths.port.exists()
        assert sleeper.poll() is None
        assert other.ask("GET", "/api/health").json["pid"] == other.pid


def test_o13_the_pid_file_of_a_running_worker_makes_no_second_one() -> None:
    with home() as made:
        made.install()
        made.mem("start")
        (worker,) = workers_of(made.paths)
        for _ in range(3):
            assert made.prompt("again").returncode == 0
            assert made.json("start")["pid"] == worker
        assert workers_of(made.paths) == [worker]


def test_o13_pid_files_written_over_while_it_runs(sleeper: subprocess.Popen[bytes]) -> None:
    """Stop ends the worker that holds the lock, and never whom the files name."""
    with home() as made:
        made.install()
        made.mem("start")
        (worker,) = workers_of(made.paths)
        made.paths.pid.write_text(json.dumps({"pid": sleeper.pid, "start": "x"}))
        assert made.status()["pid"] == worker
        assert made.mem("stop").returncode == 0
        until(lambda: workers_of(made.paths) == [])
        assert sleeper.poll() is None
