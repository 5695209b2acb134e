"""Commands and raw requests against a real worker, as people and hosts send them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from claude_mem_core.cli.client import WorkerClient
from claude_mem_core.cli.commands.status import state
from claude_mem_core.edge import install_hook
from claude_mem_core.errors import WorkerError
from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths
from claude_mem_core.testing.worker import data_dir
from tests.quick_mem import run_mem

CASES = Path(__file__).parent / "cases"


@attrs.frozen
class Home:
    """A data directory, and the commands that work on it."""

    paths: Paths

    def mem(
        self, *args: str, env: Mapping[str, str] | None = None, stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run `mem` as a person does."""
        own = {"CLAUDE_MEM_DATA_DIR": str(self.paths.data)}
        return run_mem(
            *args, env={**os.environ, **own, **(env or {})}, cwd=self.paths.data.parent,
            stdin=stdin,
        )  # fmt: skip

    def json(self, *args: str) -> Any:
        """What `mem ... --json` prints."""
        return json.loads(self.mem(*args, "--json").stdout)

    def install(self) -> list[str]:
        """Install the hook; how it is started."""
        secure_dir(self.paths.data)
        return install_hook(self.paths)

    def hook(self, event: str, payload: Mapping[str, Any]) -> subprocess.CompletedProcess[bytes]:
        """Run the installed hook as Claude Code does."""
        argv = [sys.executable, "-I", "-S", "-E", str(self.paths.hook / "launch.py")]
        return subprocess.run(
            [*argv, "claude-code", event], input=json.dumps(payload).encode(),
            capture_output=True, timeout=60, check=False, cwd="/",
        )  # fmt: skip

    def prompt(self, text: str, session: str = "s-1") -> subprocess.CompletedProcess[bytes]:
        """A user's prompt, through the hook."""
        payload = {
            "session_id": session, "cwd": "/srv/project", "transcript_path": "",
            "hook_event_name": "UserPromptSubmit", "prompt": text,
        }  # fmt: skip
        return self.hook("UserPromptSubmit", payload)

    def prompts(self) -> list[str]:
        """The stored prompts, newest first."""
        found = WorkerClient(self.paths).get("/api/prompts", limit=100)
        return [row["prompt"] for row in found["items"]]

    def status(self) -> dict[str, Any]:
        """What `mem status --json` prints, without the cost of a process."""
        return state(self.paths)


@contextmanager
def home() -> Iterator[Home]:
    """A fresh one; its worker is stopped at the end."""
    with data_dir() as paths:
        made = Home(paths)
        try:
            yield made
        finally:
            made.mem("stop")


def until(what: Callable[[], object], seconds: float = 15.0) -> None:
    """Wait for something that other processes do; a worker may still be on its way up."""
    end = time.monotonic() + seconds
    while not _holds(what):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def _holds(what: Callable[[], object]) -> bool:
    try:
        return bool(what())
    except WorkerError:
        return False


def unmount(folder: Path | str) -> None:
    """A process that was told to end may still hold it for a moment."""

    def gone() -> bool:
        done = subprocess.run(["umount", str(folder)], check=False, capture_output=True)
        return done.returncode == 0

    until(gone, 30)


def workers_of(paths: Paths) -> list[int]:
    """Processes that are workers of this data directory, zombies included."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        ours = os.fsencode(str(paths.data)) in words
        if ours and b"claude_mem_core.worker.main" in words:
            found.append(int(entry.name))
    return found
