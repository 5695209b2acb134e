"""`mem resume`: end a pause."""

from __future__ import annotations

import argparse

from claude_mem_core.cli.emit import emit
from claude_mem_core.cli.pausing import put

HELP = "end what `mem pause` began"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 recording, also when there was no pause."""
    put(0, as_json=args.json)
    if not args.json:
        emit("The memory is on again.")
    return 0
