"""A real worker and the real hook client in a home of their own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import attrs

from claude_mem_core.paths import Paths
from tests.quick_mem import run_mem


@attrs.frozen
class Live:
    """A home with our hook installed; `hook` delivers as a host would."""

    home: Path
    host: str = "claude-code"

    @property
    def paths(self) -> Paths:
        return Paths(self.home / ".claude-mem")

    @property
    def env(self) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8"}

    def mem(self, *args: str) -> str:
        """Run `mem`; what it printed."""
        done = run_mem(*args, env=self.env, cwd=self.home)
        assert done.returncode == 0, f"mem {args}: {done.stdout}{done.stderr}"
        return done.stdout

    def start(self) -> None:
        """Install the hook and start the worker."""
        self.home.mkdir(parents=True, exist_ok=True)
        self.mem("install", "--ide", self.host)
        self.mem("start")

    def hook(self, event: str, payload: dict[str, Any], **env: str) -> str:
        """Deliver one payload; what the hook printed. It must end well and soon."""
        launch = str(self.paths.hook / "launch.py")
        argv = [sys.executable, "-I", "-S", "-E", launch, self.host, event]
        start = time.monotonic()
        done = subprocess.run(
            argv, input=json.dumps(payload).encode(), env={**self.env, **env}, cwd=self.home,
            capture_output=True, timeout=20, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stderr.count(b"\n") <= 1, done.stderr
        assert time.monotonic() - start < 5
        return done.stdout.decode()

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """What the database holds, read beside the worker."""
        conn = apsw.Connection(str(self.paths.database), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return list(conn.execute(sql, values))
        finally:
            conn.close()

    def logs(self) -> str:
        """The worker's log."""
        files = self.paths.logs.glob("*.log") if self.paths.logs.is_dir() else ()
        return "".join(file.read_text() for file in files)


def eventually(what: Callable[[], bool], seconds: float) -> bool:
    """Whether something becomes so in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.02)
    return what()
