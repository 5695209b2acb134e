"""Runs `mem` for tests in forks of one process that has loaded it: a sixth of the time.

Each command is a process of its own, with its own directory, environment and streams, as
if a shell had started it; only the loading is shared. Started by `tests/quick_mem.py`.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import socket
import sys
import traceback
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NoReturn

from claude_mem_core.cli import main as program

LOADED = (
    "asyncio", "logging", "sqlite3", "claude_mem_core.settings", "claude_mem_core.store",
    "claude_mem_core.plugins.registry", "claude_mem_core.worker.process",
    "claude_mem_core.pipeline.services", "claude_mem_core.testing.worker",
)  # fmt: skip
STREAMS = ((0, "r"), (1, "w"), (2, "w"))


def serve(link: socket.socket) -> None:
    """Fork for each request until the other end closes."""
    for name in LOADED:
        importlib.import_module(name)
    for command in program.known():
        program.module_of(command)
    for plugin in entry_points(group="claude_mem"):
        if plugin.name.startswith("host."):
            importlib.import_module(plugin.module)
    while True:
        message, streams, _, _ = socket.recv_fds(link, 1 << 20, 3)
        if not message:
            return
        pid = os.fork()
        if pid == 0:
            link.close()
            _become(json.loads(message), streams)
        for stream in streams:
            os.close(stream)
        link.sendall(f"{pid}\n".encode())
        _, status = os.waitpid(pid, 0)
        link.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _become(request: dict[str, Any], streams: list[int]) -> NoReturn:
    """Be `mem` with these arguments."""
    code = 70
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        sys.argv = [str(Path(program.__file__)), *request["args"]]
        _reopen()
        program.run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - as the interpreter itself would print it
        traceback.print_exc()
        code = 1
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        code = 120
    os._exit(code or 0)


def _reopen() -> None:
    """Streams as the interpreter makes them under a UTF-8 locale."""
    given, out, err = (io.FileIO(number, mode, closefd=False) for number, mode in STREAMS)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(given), "utf-8", "surrogateescape")
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(out), "utf-8", "strict")
    sys.stderr = io.TextIOWrapper(err, "utf-8", "backslashreplace", write_through=True)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
