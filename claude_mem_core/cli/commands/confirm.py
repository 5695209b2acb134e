"""`mem confirm`: a memory that was to be verified still holds."""

from __future__ import annotations

import argparse
from urllib.parse import quote

HELP = "say that memories still hold, though their files changed"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help="12 or #12")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when there is no such memory."""
    from claude_mem_core.cli.correcting import name_of
    from claude_mem_core.cli.emit import emit, emit_json
    from claude_mem_core.cli.recalled import client

    worker = client()
    keys = [
        worker.post(f"/api/memories/{quote(name_of(given))}/confirm", {})["key"]
        for given in args.ids
    ]
    if args.json:
        emit_json({"confirmed": keys})
        return 0
    for key in keys:
        emit(f"#{key} holds as things are now")
    return 0
