"""`mem promote`: give a memory to every project."""

from __future__ import annotations

import argparse
from typing import Any

HELP = "make a memory your own: every project is given it"
ASKED = (
    "#{key} came from outside: a page, another tool, an import. Every session of every"
    " project would be shown its title. Promote it?"
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="12 or #12")
    parser.add_argument("--at", type=int, metavar="PLACE", help="1 for the first; default: last")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when there is no such memory, or nobody agreed."""
    from claude_mem_core.cli.commands.remember import is_typed
    from claude_mem_core.cli.emit import emit, emit_json
    from claude_mem_core.cli.recalled import client
    from claude_mem_core.errors import UsageError

    key = args.id.strip().removeprefix("#")
    if not key.isdigit():
        raise UsageError("a memory is promoted by its number; `mem search WORDS` shows it")
    if args.at is not None and args.at < 1:
        raise UsageError("--at counts from 1")
    if not is_typed():
        raise UsageError("only a person at a terminal can do that: run it in one")
    worker = client()
    body = {"at": args.at, "typed": True, "confirmed": False}
    if worker.get("/api/why", id=key)["trust"] == "foreign":
        if not _agreed(key):
            return 1
        body["confirmed"] = True
    done: Any = worker.post(f"/api/personal/{key}", body)
    if args.json:
        emit_json(done)
    else:
        emit(f"#{key} is yours now, number {done['place']} in every project")
        emit(f"  take it back: mem demote {key}")
    return 0


def _agreed(key: str) -> bool:
    from claude_mem_core.cli.install.run import agreed

    return agreed(ASKED.format(key=key))
