"""`mem merge`: make several memories one."""

from __future__ import annotations

import argparse
from typing import Any
from urllib.parse import quote

from claude_mem_core.cli import correcting
from claude_mem_core.cli.recalled import client

HELP = "merge memories: one stays and says all, the others are replaced by it"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the memory that stays: 12 or #12")
    parser.add_argument("others", nargs="+", metavar="OTHER", help="those that it replaces")
    parser.add_argument("--title", metavar="TEXT", help="its title from now on")
    parser.add_argument("--text", metavar="TEXT", help="its text, instead of all of theirs")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when one of them is not there, or they can't be made one."""
    body: dict[str, Any] = {"with": [correcting.name_of(other) for other in args.others]}
    if args.title:
        body["title"] = args.title
    if args.text:
        body["narrative"] = args.text
    path = f"/api/memories/{quote(correcting.name_of(args.id))}/merge"
    return correcting.told(client().post(path, body), as_json=args.json)
