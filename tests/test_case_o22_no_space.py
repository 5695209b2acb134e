"""Case O22: an impossible, read-only or full data directory, the hook's part of it.

The worker's part (a file limit, the count in the status) is tested with the worker.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from claude_mem_core.edge import install_hook, lost
from claude_mem_core.paths import Paths
from tests.hook_home import NOTHING_STARTS, HookHome, Ran, case, environment, hook_home
from tests.worker_home import unmount

TOOL = case("O22-no-space-or-read-only", "tool-20k.json")
START = json.dumps({"session_id": "s1", "hook_event_name": "SessionStart"}).encode()
STOP = json.dumps({"session_id": "s1", "hook_event_name": "Stop"}).encode()
TIMES = 10  # the case asks for fifty
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs mounts")


def everything(home: HookHome, times: int = TIMES) -> list[Ran]:
    tools = [home.run("PostToolUse", TOOL) for _ in range(times)]
    return [home.run("SessionStart", START), *tools, home.run("Stop", STOP)]


def check(ran: list[Ran], slowest: float) -> None:
    assert {r.code for r in ran} == {0}
    assert {r.out for r in ran} == {b""}
    assert all(r.err.count(b"\n") <= 1 for r in ran)
    assert all(b"Traceback" not in r.err for r in ran)
    assert max(r.seconds for r in ran) < slowest


def mem_hook(data: Path, event: str, stdin: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "claude_mem_core.cli.main", "hook", "claude-code", event],
        input=stdin, capture_output=True, timeout=60, check=False,
        env=environment({"CLAUDE_MEM_DATA_DIR": str(data)}),
    )  # fmt: skip


@pytest.fixture
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="mem"))
    yield path
    shutil.rmtree(path)


@pytest.mark.parametrize("kind", ["file", "dangling"])
def test_1_and_2_a_place_that_can_be_no_directory(folder: Path, kind: str) -> None:
    place = folder / "d"
    if kind == "file":
        place.write_text("I am a file")
    else:
        place.symlink_to("/proc/nonexistent/dir")
    for event, stdin in (("SessionStart", START), ("PostToolUse", TOOL), ("Stop", STOP)):
        done = mem_hook(place, event, stdin)
        assert (done.returncode, done.stdout) == (0, b"")
        assert done.stderr.startswith(b"claude-mem: ")
        assert done.stderr.count(b"\n") == 1
    if kind == "file":
        assert place.read_text() == "I am a file"


@contextmanager
def mounted(folder: Path, *words: str) -> Iterator[None]:
    subprocess.run(["mount", *words, str(folder)], check=True)
    try:
        yield
    finally:
        unmount(folder)


@ROOT
@pytest.mark.root
def test_4_a_read_only_directory() -> None:
    with hook_home() as home:
        data = str(home.paths.data)
        with mounted(home.paths.data, "--bind", data):
            subprocess.run(["mount", "-o", "remount,ro,bind", data], check=True)
            ran = everything(home)
        check(ran, 1)
        assert {r.err for r in ran} == {
            b"claude-mem: Read-only file system, continuing without memory\n"
        }
        assert not (home.paths.data / "starting").exists()  # nothing was started
        assert home.run("PostToolUse", TOOL).err == b""
        assert len(home.records()) == 1


@ROOT
@pytest.mark.root
def test_5_a_full_disk(folder: Path) -> None:
    with mounted(folder, "-t", "tmpfs", "-o", "size=1m", "tmpfs"):
        paths = Paths(folder / "d")
        home = HookHome(paths, install_hook(paths))
        home.worker_is(NOTHING_STARTS)
        ran = everything(home, 50)
        check(ran, 2)
        kept = len(home.records())
        assert 5 < kept < 52
        assert lost(paths) == 52 - kept  # counted though no block is free
        assert not list(paths.spool.glob("*.tmp"))
        for path in list(paths.spool.glob("*.ev"))[:5]:
            path.unlink()
        assert home.run("PostToolUse", TOOL).err == b""
