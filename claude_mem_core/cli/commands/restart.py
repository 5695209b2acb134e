"""`mem restart`: stop the worker and start it again; nothing accepted is lost."""

from __future__ import annotations

import argparse

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.cli.worker_text import started_line
from claude_mem_core.errors import WorkerError
from claude_mem_core.paths import Paths, data_dir

HELP = "restart the worker"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    from claude_mem_core.cli.launch import start, stop

    paths = Paths(data_dir())
    port = _port(paths)
    stop(paths)
    found = start(paths, tcp=port > 0, port=port)
    if args.json:
        emit_json({"pid": found.health["pid"], "version": found.health["version"]})
    else:
        emit(started_line(found.health, fresh=True))
    return 0


def _port(paths: Paths) -> int:
    """The TCP port that was open, so that an open page finds the worker again."""
    from claude_mem_core.cli.client import WorkerClient

    try:
        health = WorkerClient(paths).health()
    except WorkerError:
        return 0
    return int((health or {}).get("port") or 0)
