"""`mem demote`: a memory that was yours belongs to its project again."""

from __future__ import annotations

import argparse

HELP = "take a memory off what every project is given"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="12 or #12")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when it is not personal."""
    from claude_mem_core.cli.client import checked
    from claude_mem_core.cli.emit import emit, emit_json
    from claude_mem_core.cli.recalled import client
    from claude_mem_core.errors import UsageError

    key = args.id.strip().removeprefix("#")
    if not key.isdigit():
        raise UsageError("give its number; `mem personal` lists them")
    done = checked(client().request("DELETE", f"/api/personal/{key}"))
    if args.json:
        emit_json(done)
    else:
        emit(f"#{key} belongs to its project alone again; `mem promote {key}` takes that back")
    return 0
