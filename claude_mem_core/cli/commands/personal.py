"""`mem personal`: the memories that belong to you, which every project is given."""

from __future__ import annotations

import argparse

HELP = "list the memories that are yours, in every project"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 done."""
    from claude_mem_core.cli.emit import emit, emit_json
    from claude_mem_core.cli.recalled import client
    from claude_mem_core.render import for_prompt

    found = client().get("/api/personal")
    if args.json:
        emit_json(found)
        return 0
    for place, row in enumerate(found["memories"], 1):
        gone = "" if row["superseded_by"] is None else " (no longer holds, so nobody gets it)"
        web = "[from web] " if row["trust"] == "foreign" else ""
        title = for_prompt(row["title"] or "(no title)", 160)
        emit(f"{place:>3}. #{row['id']} {web}{title}{gone}")
    if not found["memories"]:
        emit("nothing yet; `mem promote ID` or `mem remember --global TEXT`")
    return 0
