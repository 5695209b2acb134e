"""`mem why`: what a memory was made from, and where it was given."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

HELP = "show what a memory was made from and where it was given"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="12 or #12, S3")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when there is no such memory."""
    from claude_mem_core.cli.emit import emit, emit_json
    from claude_mem_core.cli.recalled import client

    found = client().get("/api/why", id=args.id)
    if args.json:
        emit_json(found)
        return 0
    for line in lines(found):
        emit(line)
    return 0


def lines(found: dict[str, Any]) -> Iterator[str]:
    """Evidence, fate and use of a memory."""
    from claude_mem_core.recall.dates import minute
    from claude_mem_core.render import for_prompt

    made = f", made by {for_prompt(found['model'], 60)}" if found["model"] else ""
    yield f"#{found['key']}: trust {found['trust']}{made}"
    if found["superseded_by"] == 0:
        yield "marked wrong by you"
    elif found["superseded_by"]:
        yield f"superseded by #{found['superseded_by']}"
    if found["supersedes"]:
        yield "supersedes " + ", ".join(f"#{number}" for number in found["supersedes"])
    yield f"\nmade from {len(found['evidence'])} events:"
    for event in found["evidence"]:
        tool = f" {for_prompt(event['tool'], 60)}" if event["tool"] else ""
        session = for_prompt(event["session"], 40)
        yield f"  event {event['id']} {minute(event['at_ms'])} {event['kind']}{tool} ({session})"
    yield f"\ngiven {len(found['given'])} times:"
    for place in found["given"]:
        yield f"  {minute(place['at_ms'])} {for_prompt(occasion(place), 200)}"


def occasion(place: dict[str, Any]) -> str:
    """When a memory was given, in words."""
    kind, _, name = place["what"].partition(":")
    session = f"session {place['session'] or place['session_db_id']}"
    if kind == "mcp":
        return f"to an agent in {name}, which asked for it"
    if kind == "file":
        return f"before {name} was read in {session}"
    return f"with a prompt of {session}" if kind == "prompt" else f"at the start of {session}"
