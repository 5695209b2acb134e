"""`mem undo`: take back what was done to memories."""

from __future__ import annotations

import argparse

from claude_mem_core.cli import correcting
from claude_mem_core.cli.recalled import client

HELP = "take back the newest change of a memory, or one by its number"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("number", nargs="?", type=int, help="as the change named it")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when there is nothing to take back."""
    body = {} if args.number is None else {"undo": [args.number]}
    return correcting.told(client().post("/api/undo", body), as_json=args.json)
