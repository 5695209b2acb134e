"""How long a host waits for a hook, beside a bare interpreter.

    .venv/bin/python bench/hook.py --json

The installed hook against a real, warm worker: a tool use of two kilobytes in, the
answer out. Hook and bare interpreter take turns; of both the smallest wall time and CPU
time (user and system) of the process are printed, in milliseconds. As root all of them,
the worker too, run at real-time priority, because other programs of a busy machine would be
measured otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from typing import IO

import attrs

from claude_mem_core.edge import install_hook
from claude_mem_core.testing.worker import data_dir, start

FLAGS = ("-I", "-S", "-E")


@attrs.frozen
class Run:
    """One run of a process, in milliseconds."""

    wall: float
    cpu: float


def run(argv: list[str], stdin: IO[bytes]) -> Run:
    """Run to the end with `stdin` from its beginning."""
    stdin.seek(0)
    begun = time.perf_counter()
    process = subprocess.Popen(argv, stdin=stdin, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{argv} ended with {process.returncode}")
    return Run(wall * 1000, (used.ru_utime + used.ru_stime) * 1000)


def preferred() -> bool:
    """Let this process and its children go before others, if we may."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except (AttributeError, OSError):
        return False
    return True


def payload(number: int) -> bytes:
    """A tool use as Claude Code sends it, each with an id of its own."""
    event = {
        "session_id": "bench",
        "cwd": "/home/u/place",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "make test"},
        "tool_response": {"stdout": f"some words of output, {number}\n" * 60, "stderr": ""},
        "tool_use_id": f"toolu_{number}",
    }
    return json.dumps(event).encode()


def measure(rounds: int) -> dict[str, float | int]:
    """Take turns; count what the worker did not take in time."""
    first = preferred()
    bare: list[Run] = []
    hook: list[Run] = []
    with data_dir() as paths:
        argv = install_hook(paths)
        live = start(paths)
        try:
            for number in range(rounds):
                with tempfile.TemporaryFile() as stdin:
                    stdin.write(payload(number))
                    stdin.flush()
                    bare.append(run([argv[0], *FLAGS, "-c", "pass"], stdin))
                    hook.append(run([*argv, "claude-code", "PostToolUse"], stdin))
        finally:
            live.stop()
        late = len(list(paths.spool.glob("*.ev"))) if paths.spool.exists() else 0
    return found(bare, hook) | {"rounds": rounds, "late": late, "preferred": first}


def found(bare: list[Run], hook: list[Run]) -> dict[str, float | int]:
    """The smallest of each, and medians, which depend on what else the machine does."""
    least, hook_least = min(r.wall for r in bare), min(r.wall for r in hook)
    return {
        "hook_ms_min": round(hook_least, 2),
        "hook_cpu_ms_min": round(min(r.cpu for r in hook), 2),
        "bare_ms_min": round(least, 2),
        "ratio": round(hook_least / least, 3),
        "hook_ms_median": round(statistics.median(r.wall for r in hook), 2),
        "bare_ms_median": round(statistics.median(r.wall for r in bare), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rounds", type=int, default=200)
    args = parser.parse_args()
    result = measure(args.rounds)
    if args.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:<16} {value}")


if __name__ == "__main__":
    main()
