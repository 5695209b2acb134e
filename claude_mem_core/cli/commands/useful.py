"""`mem useful`: memories that helped come first later."""

from __future__ import annotations

import argparse

from claude_mem_core.cli import judging

HELP = "say that memories were useful: they come first later"


def arguments(parser: argparse.ArgumentParser) -> None:
    judging.arguments(parser)


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when there is no such memory."""
    return judging.say("not-useful" if args.undo else "useful", args)
