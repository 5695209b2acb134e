"""`mem repair`: put right what needs no decision. Memories are never touched."""

from __future__ import annotations

import argparse

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.paths import Paths, data_dir

HELP = "put hook files, modes and left-over files right, and start the worker"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    from claude_mem_core.cli.mending import mend

    done = []
    for line in mend(Paths(data_dir())):
        done.append(line)
        if not args.json:
            emit(line)
    if args.json:
        emit_json({"done": done})
    elif not done:
        emit("all is as it should be, nothing had to be done; `mem doctor` looks at more")
    return 0
