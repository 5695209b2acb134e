"""`mem context`: what a session that starts now would be given, and why."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

HELP = "show what a new session here would be given"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--project", help="label or id; default: the project of --cwd")
    parser.add_argument("--cwd", help="directory of the session; default: this one")
    parser.add_argument("--host", default="claude-code", help="agent program, or all")
    parser.add_argument("--why", action="store_true", help="add the reason for each line")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 done."""
    from claude_mem_core.cli.emit import emit, emit_json
    from claude_mem_core.cli.recalled import client, here, in_project

    place = {"project": in_project(args.project)} if args.project else {"cwd": args.cwd or here()}
    found = client().get("/api/context/preview", source=args.host, format="json", **place)
    if args.json:
        emit_json(found)
        return 0
    if not args.why or not found["text"]:
        emit(found["text"] or _nothing(found))
    if args.why:
        for line in reasons(found):
            emit(line)
    return 0


def _nothing(found: dict[str, Any]) -> str:
    """Why a session would be given nothing at all."""
    why = "; ".join(found["omitted"]) or "nothing is remembered yet (`mem status`)"
    return f"A session would be given nothing: {why}."


def reasons(found: dict[str, Any]) -> Iterator[str]:
    """Each line with why it is there, then what was left out, and how large it is."""
    for line in found["lines"]:
        yield line["text"]
        if line["reason"]:
            yield f"    why: {line['reason']}"
    yield ""
    for reason, count in found["omitted"].items():
        yield f"left out: {count} ({reason})"
    yield f"size: {found['bytes']} bytes, about {found['tokens']} tokens"
