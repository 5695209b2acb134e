"""`mem wrong`: memories that do not hold. No session is given them, no search finds them."""

from __future__ import annotations

import argparse

from claude_mem_core.cli import correcting

HELP = "mark memories wrong: nobody is given them any more"


def arguments(parser: argparse.ArgumentParser) -> None:
    correcting.ids(parser)
    parser.add_argument("--not", dest="right", action="store_true", help="take the mark off")


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when there is no such memory; then nothing was changed."""
    return correcting.act("right" if args.right else "wrong", args)
