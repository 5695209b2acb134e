"""`mem outdated`: memories that no longer hold as they stand."""

from __future__ import annotations

import argparse

from claude_mem_core.cli import judging

HELP = "say that memories are outdated: sessions no longer get them"


def arguments(parser: argparse.ArgumentParser) -> None:
    judging.arguments(parser)


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when there is no such memory."""
    return judging.say("current" if args.undo else "outdated", args)
