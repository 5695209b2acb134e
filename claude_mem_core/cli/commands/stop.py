"""`mem stop`: stop the worker; what it has accepted stays and goes on at the next start."""

from __future__ import annotations

import argparse

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.paths import Paths, data_dir

HELP = "stop the worker"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    from claude_mem_core.cli.launch import stop

    stopped = stop(Paths(data_dir()))
    if args.json:
        emit_json({"stopped": stopped})
    else:
        emit("the worker has stopped" if stopped else "no worker was running")
    return 0
