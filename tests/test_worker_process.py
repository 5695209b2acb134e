"""The worker as a process: one at a time, files, signals, ports, bad places."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from claude_mem_core.errors import WorkerError
from claude_mem_core.paths import Paths
from claude_mem_core.testing.worker import LiveWorker, data_dir, running, spawn, start
from claude_mem_core.worker import identity, process, reclaim
from claude_mem_core.worker.lock import holder

# Imported late or not at all by a worker that only takes in events (settled 23).
LAZY = {
    "starlette", "rich", "structlog", "watchfiles", "psutil", "tomlkit", "keyring",
    "sqlite_vec", "h11", "websockets", "httpx2", "jinja2", "yaml",
}  # fmt: skip


@pytest.fixture
def paths() -> Iterator[Paths]:
    with data_dir() as made:
        yield made


def until(what: Callable[[], object], seconds: float = 15.0) -> None:
    """Wait for something that other processes do."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def test_its_files_say_who_it_is_and_go_with_it(paths: Paths) -> None:
    live = start(paths, tcp=True)
    named = identity.read(paths.pid)
    assert named is not None
    assert named.pid == live.pid
    assert named.start == identity.started_at(live.pid)
    assert holder(paths.lock) == (True, named)
    assert live.port == live.ask("GET", "/api/health").json["port"]
    beat = json.loads(paths.heartbeat.read_bytes())
    assert beat["pid"] == live.pid
    assert os.readlink(f"/proc/{live.pid}/cwd") == str(paths.data)
    assert live.stop() == 0
    for path in (paths.pid, paths.port, paths.socket, paths.heartbeat):
        assert not path.exists(), path
    assert holder(paths.lock) == (False, None)


def test_everything_is_for_the_owner_only(paths: Paths) -> None:
    old = os.umask(0)
    try:
        live = start(paths, tcp=True)
        live.ask("POST", "/api/memory/save", {"text": "x"})
    finally:
        os.umask(old)
    for path in [paths.data, *paths.data.rglob("*")]:
        assert not stat.S_IMODE(path.lstat().st_mode) & 0o077, path
    live.stop()


def test_no_core_dumps_and_a_clean_environment(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-x")
    monkeypatch.setenv("CLAUDE_MEM_REDACT_ENABLED", "false")
    live = start(paths)
    limits = Path(f"/proc/{live.pid}/limits").read_text("ascii")
    assert next(r for r in limits.splitlines() if r.startswith("Max core")).split()[4] == "0"
    environ = Path(f"/proc/{live.pid}/environ").read_bytes()
    assert b"ANTHROPIC" not in environ
    assert b"CLAUDE_MEM" not in environ
    assert b"-I" in Path(f"/proc/{live.pid}/cmdline").read_bytes().split(b"\0")
    live.stop()


def spawn_argv(paths: Paths) -> list[str]:
    from claude_mem_core.worker.main import Options

    return Options(data_dir=paths.data).argv()


def test_many_starts_make_one_worker(paths: Paths) -> None:
    paths.data.mkdir(mode=0o700)
    crowd = [spawn(paths) for _ in range(6)]
    until(lambda: sum(w.process.poll() is None for w in crowd) == 1, 30)
    assert {w.process.poll() for w in crowd} == {None, 0}
    alive = next(w for w in crowd if w.process.poll() is None)
    until(lambda: paths.socket.exists())
    assert alive.ask("GET", "/api/health", timeout=30).json["pid"] == alive.pid
    alive.stop()
    for worker in crowd:
        assert worker.said() == ""


def test_a_second_worker_leaves_quietly(paths: Paths) -> None:
    with_one = start(paths)
    second = spawn(paths)
    assert second.process.wait(20) == 0
    assert second.said() == ""
    assert with_one.ask("GET", "/api/health").json["pid"] == with_one.pid
    with_one.stop()


def test_a_foreground_worker_says_that_another_one_runs(paths: Paths) -> None:
    live = start(paths)
    argv = [*spawn_argv(paths), "--foreground"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 1
    assert "already running" in done.stderr
    live.stop()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_good_order(paths: Paths, number: int) -> None:
    live = start(paths)
    live.process.send_signal(number)
    assert live.process.wait(20) == 0
    assert not paths.socket.exists()


def test_hang_up_does_not_end_it(paths: Paths) -> None:
    live = start(paths)
    live.process.send_signal(signal.SIGHUP)
    assert live.ask("GET", "/api/health").status == 200
    live.stop()


def test_after_a_kill_the_next_one_cleans_up(paths: Paths) -> None:
    live = start(paths, tcp=True)
    live.ask("POST", "/api/memory/save", {"text": "kept"})
    live.kill()
    assert paths.socket.exists()
    assert paths.pid.exists()
    again = start(paths)
    assert not paths.port.exists()  # this one has no TCP
    assert again.ask("GET", "/api/observations").json["total"] == 1
    again.stop()


def test_asked_to_stop_it_stops(paths: Paths) -> None:
    live = start(paths)
    assert reclaim.stop(paths)
    assert live.process.wait(20) == 0
    assert reclaim.stop(paths)


def test_a_stopped_process_is_ended_by_force(paths: Paths) -> None:
    live = start(paths)
    live.process.send_signal(signal.SIGSTOP)
    begun = time.monotonic()
    assert reclaim.stop(paths)
    assert live.process.wait(20) == -signal.SIGKILL
    assert time.monotonic() - begun < 15


@pytest.mark.slow
def test_a_wedged_worker_is_replaced_by_the_next_start(paths: Paths) -> None:
    live = start(paths)
    live.process.send_signal(signal.SIGSTOP)
    try:
        second = spawn(paths)
        assert second.process.wait(20) == 0  # its heartbeat is fresh: it is spared
        assert live.process.poll() is None
        beat = json.loads(paths.heartbeat.read_bytes())
        paths.heartbeat.write_text(json.dumps({**beat, "at_ms": beat["at_ms"] - 130_000}))
        third = start_over(paths)
        assert third.pid != live.pid
        third.stop()
    finally:
        live.kill()


def start_over(paths: Paths) -> LiveWorker:
    from claude_mem_core.testing.worker import until_healthy

    live = spawn(paths)
    until_healthy(live)
    return live


def test_a_restart_keeps_pid_port_and_streams_end(paths: Paths) -> None:
    live = start(paths, tcp=True)
    before = live.ask("GET", "/api/health").json
    assert live.ask("POST", "/api/admin/restart", {}).json == {"status": "restarting"}

    def came_back() -> bool:
        try:
            found = live.ask("GET", "/api/health", timeout=5).json
        except WorkerError:
            return False
        return bool(found and found["start_id"] != before["start_id"])

    until(came_back, 30)
    after = live.ask("GET", "/api/health").json
    assert after["pid"] == before["pid"]
    assert after["port"] == before["port"]
    assert live.stop() == 0


def test_there_is_no_tcp_unless_asked_for(paths: Paths) -> None:
    live = start(paths)
    assert live.ask("GET", "/api/health").json["port"] is None
    assert not paths.port.exists()
    listening = Path(f"/proc/{live.pid}/net/tcp").read_text("ascii")
    inodes = {row.split()[9] for row in listening.splitlines()[1:] if row.split()[3] == "0A"}
    fds = [os.readlink(p) for p in Path(f"/proc/{live.pid}/fd").iterdir() if p.is_symlink()]
    assert not [fd for fd in fds if fd[8:-1] in inodes]
    live.stop()


def test_the_port_setting_opens_that_port(paths: Paths) -> None:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    paths.data.mkdir(mode=0o700)
    paths.settings.write_text(json.dumps({"CLAUDE_MEM_WORKER_PORT": str(port)}))
    live = start(paths)
    assert live.port == port
    live.stop()


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])
def test_a_mute_stranger_on_the_port_costs_nothing(paths: Paths, address: str) -> None:
    with closing(socket.socket()) as stranger:
        stranger.bind((address, 0))
        stranger.listen(1)
        port = stranger.getsockname()[1]
        live = start(paths, port=port, tcp=True)
        assert live.port not in {port, 0}
        found = live.ask("GET", "/api/admin/doctor").json
        assert str(port) in found["notes"]["port"]
        assert str(live.port) in found["tcp"]["note"]
        live.stop()


def ends_with(paths: Paths, *, code: int = 3) -> str:
    """What a worker says that can't start."""
    begun = time.monotonic()
    live = spawn(paths)
    assert live.process.wait(20) == code
    assert time.monotonic() - begun < 10
    said = live.said()
    assert "Traceback" not in said
    assert said.startswith("mem: ")
    assert len(said.splitlines()) == 1
    return said


def test_other_machines_are_refused(paths: Paths) -> None:
    paths.data.mkdir(mode=0o700)
    paths.settings.write_text(json.dumps({"CLAUDE_MEM_WORKER_HOST": "0.0.0.0"}))
    said = ends_with(paths)
    assert "CLAUDE_MEM_WORKER_HOST" in said
    assert "mem config set" in said
    failure = process.last_failure(paths)
    assert failure is not None
    assert "CLAUDE_MEM_WORKER_HOST" in failure["text"]
    paths.settings.unlink()
    start(paths).stop()
    assert process.last_failure(paths) is None


def test_a_data_directory_that_is_a_file(paths: Paths) -> None:
    paths.data.write_text("I am a file")
    assert str(paths.data) in ends_with(paths)
    assert paths.data.read_text() == "I am a file"


def test_a_data_directory_that_can_not_be(paths: Paths) -> None:
    paths.data.symlink_to("/proc/nonexistent/dir")
    assert str(paths.data) in ends_with(paths)


def test_a_foreign_database_is_left_alone(paths: Paths) -> None:
    paths.data.mkdir(mode=0o700)
    content = b"SQLite format 3\x00" + b"\x01" * 5000
    paths.database.write_bytes(content)
    said = ends_with(paths)
    assert "memory.db" in said
    assert paths.database.read_bytes() == content


def test_a_limit_on_file_sizes_is_told_and_survived(paths: Paths) -> None:
    argv = ["sh", "-c", 'ulimit -f 8; exec "$@"', "sh", *spawn_argv(paths)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    start(paths).stop()


def test_a_worker_imports_little(paths: Paths) -> None:
    """Settled 23: what a starting worker has loaded, seen from inside by a policy plugin."""
    code = (
        "import sys; import claude_mem_core.worker.serve, claude_mem_core.worker.main;"
        "print('\\n'.join(sorted({m.split('.')[0] for m in sys.modules})))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert {"uvicorn", "httptools", "apsw"} <= loaded
    assert not loaded & LAZY


def test_an_upgrade_of_the_package_restarts_the_worker(paths: Paths) -> None:
    """The heartbeat notices another version in our own file."""
    from claude_mem_core.testing.worker import until_healthy

    paths.data.mkdir(mode=0o700)
    fake = paths.data / "package.py"
    fake.write_text('__version__ = "0.0.1"\n')
    code = (
        "import sys, pathlib; from claude_mem_core.worker import chores, heartbeat, main;"
        f"chores._package_file = lambda: pathlib.Path({str(fake)!r});"
        "heartbeat.EVERY_S = 0.05; sys.exit(main.run(main.parsed(sys.argv[1:])))"
    )
    argv = [sys.executable, "-I", "-c", code, "--data-dir", str(paths.data)]
    live = LiveWorker(paths, subprocess.Popen(argv, stderr=subprocess.DEVNULL))
    until_healthy(live)
    first = live.ask("GET", "/api/health").json["start_id"]
    fake.write_text('__version__ = "9.9.9"\n')

    def came_back() -> bool:
        try:
            return bool(live.ask("GET", "/api/health", timeout=5).json["start_id"] != first)
        except WorkerError:
            return False

    until(came_back, 30)
    live.stop()


def test_it_leaves_when_idle(paths: Paths) -> None:
    paths.data.mkdir(mode=0o700)
    paths.settings.write_text(json.dumps({"CLAUDE_MEM_IDLE_EXIT_SEC": "60"}))
    code = (
        "import sys; from claude_mem_core.worker import chores, main;"
        "chores.IDLE_LEAST_S = 1; chores.IDLE_LOOK_S = 0.1;"
        "limit = chores.idle_limit;"
        "chores.idle_limit = lambda *a: limit(*a) and 1;"
        "sys.exit(main.run(main.parsed(sys.argv[1:])))"
    )
    argv = [sys.executable, "-I", "-c", code, "--data-dir", str(paths.data)]
    live = LiveWorker(paths, subprocess.Popen(argv, stderr=subprocess.DEVNULL))
    assert live.process.wait(30) == 0
    assert not paths.socket.exists()


def test_a_running_worker_does_not_leave_without_the_setting(paths: Paths) -> None:
    with running() as live:
        assert live.ask("GET", "/api/settings").json["CLAUDE_MEM_IDLE_EXIT_SEC"] == "0"
