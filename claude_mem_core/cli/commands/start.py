"""`mem start`: make sure that the worker runs."""

from __future__ import annotations

import argparse
import os

from claude_mem_core.cli.emit import complain, emit, emit_json
from claude_mem_core.cli.worker_text import started_line
from claude_mem_core.errors import UsageError
from claude_mem_core.paths import Paths, data_dir

HELP = "start the worker, if it does not run"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tcp", action="store_true", help="also listen on loopback TCP")
    parser.add_argument("--port", type=int, default=0, help="TCP port (switches TCP on)")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    from claude_mem_core.cli.launch import start

    if not 0 <= args.port <= 65_535:
        raise UsageError("--port must be a number from 1 to 65535")
    paths = Paths(data_dir())
    for name in ("CLAUDE_MEM_WORKER_PORT", "CLAUDE_MEM_WORKER_HOST"):
        if name in os.environ:
            complain(f"mem: {name} of the environment is not used here: `mem config set`")
    found = start(paths, tcp=args.tcp, port=args.port)
    if args.json:
        health = found.health
        keys = ("status", "pid", "version", "port", "uptime")
        emit_json({**{k: health.get(k) for k in keys}, "started": found.fresh})
        return 0
    emit(started_line(found.health, fresh=found.fresh))
    if found.note:
        emit(found.note)
    return 0
