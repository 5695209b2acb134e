"""The lock, process identities and the socket's place."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_core.paths import Paths
from claude_mem_core.worker import heartbeat, identity, lock, reclaim, sockets
from claude_mem_core.worker.lock import WorkerLock, holder

HOLD = """
import sys, pathlib
from claude_mem_core.worker import identity
from claude_mem_core.worker.lock import WorkerLock
held = WorkerLock.acquire(pathlib.Path(sys.argv[1]))
if sys.argv[2] == "named":
    held.name(identity.current("1", "x"))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "worker.lock"


class Holder:
    """Another process that holds the lock."""

    def __init__(self, path: Path, how: str = "named") -> None:
        argv = [sys.executable, "-c", HOLD, str(path), how]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"held\n"

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def other(path: Path) -> Iterator[Holder]:
    held = Holder(path)
    yield held
    held.end()


def test_a_second_process_does_not_get_the_lock(path: Path, other: Holder) -> None:
    assert WorkerLock.acquire(path) is None
    held, process = holder(path)
    assert held
    assert process is not None
    assert process.pid == other.process.pid
    assert identity.is_running(process)


def test_the_lock_dies_with_its_holder(path: Path, other: Holder) -> None:
    other.end()
    assert holder(path) == (False, None)
    mine = WorkerLock.acquire(path)
    assert mine is not None
    mine.release()


def test_who_only_looks_does_not_keep_a_starter_out(path: Path) -> None:
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            holder(path)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(30):
            mine = WorkerLock.acquire(path)
            assert mine is not None
            mine.release()
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("odd", ["folder", "full-folder", "link", "pipe", "garbage"])
def test_odd_things_in_its_place_are_no_obstacle(path: Path, tmp_path: Path, odd: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("keep")
    if odd.endswith("folder"):
        path.mkdir()
        if odd == "full-folder":
            (path / "x").write_text("keep")
    elif odd == "link":
        path.symlink_to(victim)
    elif odd == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(b"\x00\xff{")
    mine = WorkerLock.acquire(path)
    assert mine is not None
    mine.name(identity.current("1", "x"))
    assert stat.S_ISREG(path.lstat().st_mode)
    assert victim.read_text() == "keep"
    if odd == "full-folder":
        assert [p.read_text() for p in tmp_path.glob("worker.lock.odd-*/x")] == ["keep"]
    mine.release()


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b'{"pid": 12', b"\x00\xff\x10\xfe", b'{"pid": 99999999999999999999}',
        b'{"pid": 0, "start": "x"}', b'{"pid": 1, "start": "x"}', b'{"pid": -4, "start": "x"}',
        b'{"pid": "7", "start": "x"}', b'{"pid": true, "start": "x"}', b"[1]", b"7",
        b'{"pid": 999983, "start_time": "2026-01-02T03:04:05Z"}', b"[" * 5000,
    ],
)  # fmt: skip
def test_odd_pid_files_name_nobody(data: bytes) -> None:
    assert identity.parse(data) is None


def test_a_pid_alone_is_not_the_process() -> None:
    me = identity.current("1", "x")
    assert identity.is_running(me)
    assert identity.parse(me.to_bytes()) == me
    assert not identity.is_running(identity.Identity(me.pid, "another time"))
    assert not identity.is_running(identity.Identity(me.pid, ""))


def test_no_signal_without_a_held_lock(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    victim = subprocess.Popen(["sleep", "60"])
    try:
        started = identity.started_at(victim.pid)
        claim = {"pid": victim.pid, "start": started, "version": "1", "start_id": "x"}
        for file in (paths.pid, paths.lock):
            file.write_text(json.dumps(claim))
        assert reclaim.holding(paths) is None
        assert reclaim.end(paths)
        assert reclaim.stop(paths)
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()


def test_no_signal_to_whom_the_lock_file_merely_names(path: Path) -> None:
    """A stranger is named in a lock that somebody else holds."""
    paths = Paths(path.parent)
    held = Holder(path, "silent")
    victim = subprocess.Popen(["sleep", "60"])
    try:
        claim = {"pid": victim.pid, "start": identity.started_at(victim.pid)}
        path.write_text(json.dumps(claim))
        assert holder(path)[0]
        assert reclaim.holding(paths) is None
        assert not reclaim.end(paths)
        assert victim.poll() is None
        assert held.process.poll() is None
    finally:
        victim.kill()
        victim.wait()
        held.end()


def test_a_holder_that_does_not_answer_is_ended(path: Path, other: Holder) -> None:
    paths = Paths(path.parent)
    assert reclaim.end(paths)
    assert other.process.wait(5) is not None
    assert not holder(path)[0]


def test_a_fresh_heartbeat_spares_and_an_old_one_does_not(tmp_path: Path) -> None:
    fresh = heartbeat.Beat(pid=5, age_ms=1000, waiting_s=0, quiet_s=900)
    assert not heartbeat.is_wedged(fresh)
    assert heartbeat.is_wedged(heartbeat.Beat(5, 121_000, 0, 0))
    assert heartbeat.is_wedged(heartbeat.Beat(5, 30_000, 0, 0), stale_ms=10_000)
    assert heartbeat.is_wedged(heartbeat.Beat(5, 1000, 601, 601))
    assert not heartbeat.is_wedged(heartbeat.Beat(5, 1000, 599, 900))
    assert heartbeat.is_wedged(None)
    assert heartbeat.last(Paths(tmp_path)) is None


def test_a_starting_worker_is_not_taken_for_a_wedged_one(path: Path, other: Holder) -> None:
    assert not reclaim.from_wedged(Paths(path.parent))
    assert other.process.poll() is None


def test_a_wedged_worker_is_ended(path: Path, other: Holder) -> None:
    paths = Paths(path.parent)
    old = {"pid": other.process.pid, "at_ms": 1, "waiting_s": 0, "quiet_s": 0}
    paths.heartbeat.write_text(json.dumps(old))
    assert reclaim.from_wedged(paths)
    other.process.wait(5)
    assert not holder(path)[0]


def test_a_long_path_gets_a_socket_elsewhere(tmp_path: Path) -> None:
    data = tmp_path / ("x" * 120)
    data.mkdir(mode=0o700)
    paths = Paths(data)
    first = sockets.listen(paths)
    where = sockets.socket_path(paths)
    first.close()
    try:
        assert sockets.fits(where)
        assert stat.S_IMODE(where.parent.stat().st_mode) == 0o700
        again = sockets.listen(paths)
        assert sockets.socket_path(paths) == where
        again.close()
    finally:
        where.unlink()
        where.parent.rmdir()


def test_a_name_of_a_loose_directory_is_not_used_again(tmp_path: Path) -> None:
    data = tmp_path / ("x" * 120)
    data.mkdir(mode=0o700)
    paths = Paths(data)
    loose = tmp_path / "loose"
    loose.mkdir()
    loose.chmod(0o777)
    paths.socket_elsewhere.write_bytes(os.fsencode(loose / "w.sock"))
    listener = sockets.listen(paths)
    where = sockets.socket_path(paths)
    listener.close()
    assert where.parent != loose
    where.unlink()
    where.parent.rmdir()


def test_the_socket_is_for_the_owner_only(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    (tmp_path / "w.sock").symlink_to("/nonexistent/there")
    listener = sockets.listen(paths)
    found = paths.socket.lstat()
    listener.close()
    assert stat.S_ISSOCK(found.st_mode)
    assert stat.S_IMODE(found.st_mode) == 0o600


def test_waiting_for_the_lock_has_an_end(path: Path, other: Holder) -> None:
    assert not lock.wait_free(path, 0.05)
    other.end()
    assert lock.wait_free(path, 5)
