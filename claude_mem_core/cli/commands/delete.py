"""`mem delete`: take memories out of everything."""

from __future__ import annotations

import argparse

from claude_mem_core.cli import correcting

HELP = "delete memories; they can be brought back for 7 days"
arguments = correcting.ids


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when there is no such memory; then nothing was changed."""
    return correcting.act("delete", args)
