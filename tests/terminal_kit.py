"""`mem` as a person at a terminal runs it: what agents leave in the environment is gone."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import attrs

from claude_mem_core.cli.commands.remember import AGENTS


@attrs.frozen
class Answered:
    """How a command ended, and what it wrote to the terminal."""

    code: int
    out: str


def at_a_terminal(data: Path, *args: str, answer: str = "") -> Answered:
    """Run `mem ARGS` with a terminal and answer what it asks."""
    ours, theirs = pty.openpty()
    kept = {k: v for k, v in os.environ.items() if k not in AGENTS and "CLAUDE_MEM" not in k}
    env = {**kept, "CLAUDE_MEM_DATA_DIR": str(data)}
    argv = [sys.executable, "-m", "claude_mem_core.cli.main", *args]
    with subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
        os.close(theirs)
        os.write(ours, f"{answer}\n".encode())
        out = _all(ours)
        code = process.wait(60)
    os.close(ours)
    return Answered(code, out.replace("\r\n", "\n"))


def _all(terminal: int) -> str:
    """Everything until the other side is closed."""
    parts = []
    while True:
        try:
            part = os.read(terminal, 65_536)
        except OSError:  # how Linux says that nobody holds the other side any more
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts).decode("utf-8", "replace")
