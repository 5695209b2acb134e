"""`mem pin`: memories that stand in every context of their project."""

from __future__ import annotations

import argparse

from claude_mem_core.cli import correcting

HELP = "put memories into every context of their project"
arguments = correcting.ids


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when there is no such memory; then nothing was changed."""
    return correcting.act("pin", args)
