"""`mem unpin`: memories like the others again."""

from __future__ import annotations

import argparse

from claude_mem_core.cli import correcting

HELP = "unpin memories"
arguments = correcting.ids


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when there is no such memory; then nothing was changed."""
    return correcting.act("unpin", args)
