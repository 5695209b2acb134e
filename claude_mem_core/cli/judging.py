"""What the commands that judge memories have in common."""

from __future__ import annotations

import argparse
from urllib.parse import quote

from claude_mem_core.cli.correcting import name_of
from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.cli.recalled import client

SAID = {
    "useful": "useful: searches and contexts prefer it",
    "not-useful": "not called useful any more",
    "outdated": "outdated: no session is given it, and searches show it last",
    "current": "not called outdated any more",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """The ids, and taking it back."""
    parser.add_argument("ids", nargs="+", metavar="ID", help="12 or #12")
    parser.add_argument("--undo", action="store_true", help="take it back")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def say(word: str, args: argparse.Namespace) -> int:
    """Say it of each memory, one after the other."""
    worker = client()
    done = [
        worker.post(f"/api/memories/{quote(name_of(given))}/feedback", {"said": word})
        for given in args.ids
    ]
    if args.json:
        emit_json({"said": done})
        return 0
    for one in done:
        emit(f"#{one['key']} {SAID[word]}")
    return 0
