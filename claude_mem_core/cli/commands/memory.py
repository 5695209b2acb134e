"""`mem memory ingest`: the name that `mem ingest` has in claude-mem."""

from __future__ import annotations

import argparse

HELP = "`memory ingest` is `ingest`"


def arguments(parser: argparse.ArgumentParser) -> None:
    from claude_mem_core.cli.commands import ingest

    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    ingest.arguments(actions.add_parser("ingest", help=ingest.HELP, description=ingest.HELP))


def run(args: argparse.Namespace) -> int:
    """As `mem ingest`."""
    from claude_mem_core.cli.commands import ingest

    return ingest.run(args)
