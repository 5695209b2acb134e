"""`mem doctor`: look at everything, and name the cure for what is wrong."""

from __future__ import annotations

import argparse
import os

import attrs

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.paths import Paths, data_dir

HELP = "look for what is wrong, and say what to do"
MARKS = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host", metavar="HOST", help="look at this host alone, and send a test event in its words"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """1 when a check failed; warnings alone are no failure."""
    from claude_mem_core.cli.checks import rows
    from claude_mem_core.cli.finding import FAIL, Look
    from claude_mem_core.cli.hostcheck import one

    look = Look(Paths(data_dir()), os.getcwd())
    found = list(one(look, args.host) if args.host else rows(look))
    failed = any(row.state == FAIL for row in found)
    if args.json:
        emit_json({"ok": not failed, "checks": [attrs.asdict(row) for row in found]})
        return 1 if failed else 0
    for row in found:
        emit(f"{MARKS[row.state]}  {row.topic:<16} {row.text}")
        if row.cure:
            emit(f"      {'':<16} -> {row.cure}")
    return 1 if failed else 0
