"""O22 with the real worker: disk full, read-only or impossible data directory.

The hook's own part, without a worker, is in `test_case_o22_no_space.py`.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import attrs
import pytest

from claude_mem_core.paths import Paths
from tests.worker_home import CASES, Home, home, unmount, until, workers_of

pytestmark = pytest.mark.slow

CASE = CASES / "O22-no-space-or-read-only"
TOOL = (CASE / "tool-20k.json").read_text("utf-8")
TIMES = 50
SESSION = "5e0f7c1a-0000-4000-8000-000000002201"
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs mounts")


@attrs.frozen
class Ran:
    """How a hook ended; `seconds` of processor time, which no other process lengthens."""

    code: int
    out: bytes
    err: bytes
    seconds: float


def run(argv: list[str], stdin: bytes, env: dict[str, str] | None = None) -> Ran:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        argv, input=stdin, capture_output=True, timeout=30, check=False, cwd="/",
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **(env or {})},
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ran(done.returncode, done.stdout, done.stderr, used)


class Hooks:
    """Delivers the events of the case."""

    def __init__(self, paths: Paths, *, by_command: bool = False) -> None:
        self._argv = [sys.executable, "-I", "-S", "-E", str(paths.hook / "launch.py"), "claude-code"]
        self._env: dict[str, str] = {}
        if by_command:  # nothing could be installed there
            self._argv = [sys.executable, "-m", "claude_mem_core.cli.main", "hook", "claude-code"]
            self._env = {"CLAUDE_MEM_DATA_DIR": str(paths.data)}
        self.ran: list[Ran] = []

    def send(self, event: str, **more: Any) -> Ran:
        payload = {"session_id": SESSION, "cwd": "/srv/p", "transcript_path": "",
                   "hook_event_name": event, **more}  # fmt: skip
        return self._run(event, json.dumps(payload).encode())

    def tool(self, number: int) -> Ran:
        text = TOOL.replace("{{CWD}}", "/srv/p").replace("{{TRANSCRIPT}}", "")
        return self._run("PostToolUse", text.replace("{{N}}", str(number)).encode())

    def everything(self, times: int = TIMES) -> list[Ran]:
        self.send("SessionStart", source="startup")
        for number in range(times):
            self.tool(number)
        self.send("Stop", last_assistant_message="done")
        return self.ran

    def _run(self, event: str, stdin: bytes) -> Ran:
        self.ran.append(run([*self._argv, event], stdin, self._env))
        return self.ran[-1]


def check(ran: list[Ran], slowest: float) -> None:
    assert {r.code for r in ran} == {0}
    assert all(r.err.count(b"\n") <= 1 and b"Traceback" not in r.err for r in ran)
    assert max(r.seconds for r in ran) < slowest


def tool_uses(paths: Paths) -> int:
    """Different tool uses that are stored; 0 while there is no database."""
    if not paths.database.exists():
        return 0
    conn = apsw.Connection(str(paths.database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        conn.set_busy_timeout(5000)
        return int(next(conn.execute("SELECT count(DISTINCT tool_use_id) FROM tool_uses"))[0])
    except (apsw.SQLError, apsw.IOError):  # no table yet, or no room for us to read it
        return 0
    finally:
        conn.close()


def sound(made: Home) -> None:
    """What must hold in the end."""
    assert made.mem("db", "check").returncode == 0
    assert made.mem("verify").returncode == 0
    left = [p.name for p in made.paths.data.rglob("*") if p.name.endswith((".tmp", ".new", ".part"))]
    assert left == []


def a_minute_passes(paths: Paths) -> None:
    """Hooks try to start a worker once a minute; we don't wait for it."""
    words = (paths.data / "starting").read_text("ascii").split()
    (paths.data / "starting").write_text(f"{time.time() - 61:.3f} {words[1]} {words[2]}\n", "ascii")


def wrapped(paths: Paths, shell: str) -> bytes:
    """The worker's command line run by a shell after something else; the plain one is returned."""
    plain = paths.worker_argv.read_bytes()
    words = plain.split(b"\0")
    count = int(words[0])
    argv = [b"/bin/sh", b"-c", f'{shell}; exec "$@"'.encode(), b"sh", *words[1 : 1 + count]]
    paths.worker_argv.write_bytes(
        b"\0".join([str(len(argv)).encode(), *argv, *words[1 + count :]])
    )
    return plain


@pytest.fixture
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="mem"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


# 1 and 2: no directory ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["file", "dangling"])
def test_o22_a_place_that_can_be_no_directory(folder: Path, kind: str) -> None:
    place = folder / "d"
    subprocess.run(["sh", str(CASE / "env.sh"), kind, str(place)], check=True)
    paths = Paths(place)
    made, hooks = Home(paths), Hooks(paths, by_command=True)
    check(hooks.everything(5), 1)
    assert all(r.err.startswith(b"claude-mem: ") for r in hooks.ran)
    until(lambda: not workers_of(paths))
    for command in ("start", "status"):
        done = made.mem(command)
        assert done.returncode != 0
        assert "Traceback" not in done.stderr
        assert str(place) in done.stdout + done.stderr
    place.unlink()
    assert hooks.tool(99).err == b""
    try:
        until(lambda: tool_uses(paths) == 1, 30)
        sound(made)
    finally:
        made.mem("stop")


# 3: a limit on file sizes ------------------------------------------------------------------------


def test_o22_a_limit_that_leaves_no_room_for_a_database() -> None:
    with home() as made:
        made.install()
        plain = wrapped(made.paths, "ulimit -f 256; echo >> tries")
        hooks = Hooks(made.paths)
        check(hooks.everything(), 2)
        assert len((made.paths.data / "tries").read_text()) == 1  # once in this minute
        assert len(list(made.paths.spool.glob("*.ev"))) == TIMES + 2
        until(lambda: not workers_of(made.paths))
        status = made.mem("status").stdout
        assert "52 waiting" in status
        assert str(made.paths.database) in status or str(made.paths.data) in status
        made.paths.worker_argv.write_bytes(plain)
        a_minute_passes(made.paths)
        hooks.tool(99)
        until(lambda: tool_uses(made.paths) == TIMES + 1, 60)
        sound(made)


def test_o22_a_limit_that_is_met_on_the_way() -> None:
    with home() as made:
        made.install()
        made.mem("start")
        made.mem("stop")
        room = made.paths.database.stat().st_size // 1024 + 64  # for a few events of 20 KB
        plain = wrapped(made.paths, f"ulimit -f {room}")
        hooks = Hooks(made.paths)
        check(hooks.everything(), 2)
        kept = tool_uses(made.paths)
        waiting = len(list(made.paths.spool.glob("*.ev")))
        assert kept + waiting >= TIMES
        assert waiting > 0
        assert len(workers_of(made.paths)) <= 1
        status = made.mem("status")
        assert (status.returncode, f"{waiting} waiting" in status.stdout) == (1, True)
        assert "can't be taken in yet" in status.stdout or str(made.paths.database) in status.stdout
        made.paths.worker_argv.write_bytes(plain)
        made.mem("stop")
        hooks.tool(99)
        if not workers_of(made.paths):
            a_minute_passes(made.paths)
            hooks.tool(100)
        until(lambda: tool_uses(made.paths) >= TIMES + 1, 60)
        until(lambda: not list(made.paths.spool.glob("*.ev")), 30)
        sound(made)


# 4: read-only ------------------------------------------------------------------------------------


@ROOT
@pytest.mark.root
def test_o22_a_read_only_directory() -> None:
    with home() as made:
        made.install()
        made.mem("start")
        made.mem("stop")
        data = str(made.paths.data)
        subprocess.run(["sh", str(CASE / "env.sh"), "ro", data], check=True)
        try:
            hooks = Hooks(made.paths)
            check(hooks.everything(10), 1)
            assert all(r.err.startswith(b"claude-mem: Read-only") for r in hooks.ran)
            until(lambda: not workers_of(made.paths))
            started = made.mem("start")
            assert (started.returncode, data in started.stderr) == (3, True)
            assert "read-only" in started.stderr
            assert "Traceback" not in made.mem("status").stderr
        finally:
            unmount(data)
        a_minute_passes(made.paths)
        hooks.tool(99)
        until(lambda: tool_uses(made.paths) == 1, 30)
        sound(made)


# 5: a full disk ----------------------------------------------------------------------------------


@ROOT
@pytest.mark.root
@pytest.mark.parametrize("size", ["1m", "2m"])
def test_o22_a_full_disk(folder: Path, size: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    made = Home(Paths(folder / "d"))
    try:
        made.install()
        hooks = Hooks(made.paths)
        check(hooks.everything(), 2)
        assert len(workers_of(made.paths)) <= 1
        status = made.mem("status")
        assert "Traceback" not in status.stderr
        kept = tool_uses(made.paths) + len(list(made.paths.spool.glob("*.ev")))
        lost = made.status()["lost"]
        assert kept + lost >= TIMES + 2 - 3  # frame events may be in the database, too
        assert lost > 0
        assert f"{lost} events" in status.stdout
        subprocess.run(["mount", "-o", "remount,size=64m", str(folder)], check=True)
        if not workers_of(made.paths) and (made.paths.data / "starting").exists():
            a_minute_passes(made.paths)
        hooks.tool(99)
        until(lambda: workers_of(made.paths), 20)
        until(lambda: not list(made.paths.spool.glob("*.ev")), 30)
        until(lambda: tool_uses(made.paths) >= TIMES + 1 - lost, 30)
        told = hooks.send("SessionStart", source="startup")
        assert f"{lost} events could not be kept" in told.out.decode()
        sound(made)
    finally:
        made.mem("stop")
        unmount(folder)
