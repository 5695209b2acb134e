"""`mem resume`: end a pause."""

from __future__ import annotations

import argparse

from claude_mem_core.cli.emit import emit
from claude_mem_core.cli.pausing import incognito, put

HELP = "end what `mem pause` began"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--session", nargs="?", const="", metavar="ID",
        help="only what `mem pause --session` began",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 recording, also when there was no pause."""
    if args.session is not None:
        return incognito(args.session, on=False, as_json=args.json)
    put(0, as_json=args.json)
    if not args.json:
        emit("The memory is on again.")
    return 0
