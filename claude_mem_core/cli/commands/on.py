"""`mem on`: switch the memory on for a folder and all below it."""

from __future__ import annotations

import argparse

from claude_mem_core.cli.switching import switch

HELP = "switch the memory on for a folder and all below it"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", default="", help="this one, when none is given")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 it is on there now, 1 something else decides, 2 there is no such folder."""
    return switch(args.folder, on=True, as_json=args.json)
