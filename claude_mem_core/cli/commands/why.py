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
    if found["evidence"]:
        yield f"\nmade from {_number(len(found['evidence']), 'event')}:"
    else:
        yield "\nmade from no event: kept by hand, or imported"
    for event in found["evidence"]:
        tool = f" {for_prompt(event['tool'], 60)}" if event["tool"] else ""
        session = for_prompt(event["session"], 40)
        yield f"  event {event['id']} {minute(event['at_ms'])} {event['kind']}{tool} ({session})"
    yield from judged(found)
    given = found["log"] or found["given"]
    yield f"\ngiven {_number(len(given), 'time')}:" if given else "\nnever given so far"
    for place in given:
        yield f"  {minute(place['at_ms'])} {for_prompt(occasion(place), 200)}"
        if place.get("reason"):
            yield f"    why: {for_prompt(place['reason'], 200)}"
        if place.get("query"):
            yield f"    asked: {for_prompt(place['query'], 200)}"


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def judged(found: dict[str, Any]) -> Iterator[str]:
    """What was said of it, and whether every project is given it."""
    from claude_mem_core.render import for_prompt

    if found["personal"]:
        yield "yours: every project is given it"
    if found["verify"]:
        yield f"to be verified: {for_prompt(found['verify'], 200)}; `mem confirm` if it holds"
    said = found["feedback"]
    if said.get("useful"):
        yield f"called useful {_number(said['useful'], 'time')}"
    if said.get("outdated"):
        yield "called outdated: no session is given it, searches show it last"


def occasion(place: dict[str, Any]) -> str:
    """When a memory was given, in words."""
    kind, _, name = place["what"].partition(":")
    session = f"session {place['session'] or place['session_db_id']}"
    if kind in ("mcp", "search"):
        did = "asked for it" if kind == "mcp" else "searched"
        return f"to an agent in {name}, which {did}"
    if kind == "api":
        return f"in a context that {name or 'a program'} asked for"
    if kind == "file":
        return f"before {name} was read in {session}"
    if kind == "prompt":
        return f"with {f'prompt {name}' if name else 'a prompt'} of {session}"
    return f"at the start of {session}{f' ({name})' if kind == 'start' else ''}"
