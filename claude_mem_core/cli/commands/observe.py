"""`mem observe again`: a model makes new memories from events that are kept."""

from __future__ import annotations

import argparse
import sys
from typing import Any

HELP = "have a model observe again what happened"


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    text = "queue turns for the model; what it makes of them replaces what rules made"
    again = actions.add_parser("again", help=text, description=text)
    again.add_argument("--session", help="only this session, by the host's id")
    again.add_argument("--since", help="only from then on: YYYY-MM-DD or an ISO time")
    again.add_argument("--project", help="only this project, by label or id")
    again.add_argument("--all", action="store_true", help="also what a model has observed")
    again.add_argument("--yes", action="store_true", help="do not ask")
    again.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 queued; 1 nothing to do, or not wanted."""
    from claude_mem_core.cli.emit import complain, emit, emit_json
    from claude_mem_core.cli.recalled import client

    names = ("session", "since", "project")
    body: dict[str, Any] = {name: getattr(args, name) for name in names if getattr(args, name)}
    body["all"] = args.all
    worker = client()
    if not args.yes:
        found = worker.post("/api/observe/again", {**body, "dry": True})
        if found["turns"] and not _wanted(found):
            complain("nothing was queued; --yes does not ask")
            return 1
    found = worker.post("/api/observe/again", body)
    if args.json:
        emit_json(found)
    elif found["turns"]:
        emit(f"{found['turns']} turns wait for the model; `mem queue` shows how it goes on")
    else:
        emit("no such turn: a model has seen them, or their events are gone")
    return 0 if found["turns"] else 1


def _wanted(found: dict[str, Any]) -> bool:
    if not sys.stdin.isatty():
        return False
    asked = f"Send {found['turns']} turns with {found['events']} events to the model? [y/N] "
    return input(asked).strip().lower() in {"y", "yes"}
