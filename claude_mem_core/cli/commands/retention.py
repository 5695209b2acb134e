"""`mem retention`: what goes by itself, and what that is now."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.cli.recalled import client
from claude_mem_core.errors import UsageError

HELP = "how long and how much is kept: look what would go, or let it go now"

PATIENCE_S = 1900.0
RULE = "CLAUDE_MEM_RETENTION_RULES"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON object")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    for name, text in (
        ("show", "the rules, and what would go by them now (the default)"),
        ("apply", "let it go now; by itself it happens every six hours"),
    ):
        action = actions.add_parser(name, help=text, description=text)
        action.add_argument(
            "--json", action="store_true", default=argparse.SUPPRESS, help="print a JSON object"
        )
        if name == "apply":
            action.add_argument("--yes", action="store_true", help="do not ask")


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when the answer was no, 2 a rule is none."""
    ask, as_json = client(), args.json
    found = ask.get("/api/retention", timeout=PATIENCE_S)
    if args.action == "apply":
        if not args.yes and not _agreed(found, as_json=as_json):
            return 1
        found = ask.post("/api/retention/apply", timeout=PATIENCE_S)
    if as_json:
        emit_json(found)
    else:
        for line in _lines(found):
            emit(line)
    return 0


def _agreed(found: dict[str, Any], *, as_json: bool) -> bool:
    if as_json or not sys.stdin.isatty():
        raise UsageError("add --yes to let it go without being asked; `mem retention` looks first")
    for line in _lines(found):
        emit(line)
    emit("There is no undo. Let it go? (y/n)")
    return sys.stdin.readline().strip().casefold() in {"y", "yes"}


def _lines(found: dict[str, Any]) -> Iterator[str]:
    from claude_mem_core.cli.worker_text import size

    yield from map(_rule, found["rules"])
    if found["max_mb"]:
        yield f"the database: at most {found['max_mb']} MB, it has {size(found['after'])}"
    if not found["rules"] and not found["max_mb"]:
        yield "everything is kept; a rule is made like this:"
        yield f"""  mem config set {RULE} '[{{"kind": "events", "days": 90}}]'"""
    counts = [f"{number} {kind}" for kind, number in sorted(found["gone"].items())]
    yield f"{', '.join(counts) or 'nothing'} {'went' if found['applied'] else 'would go'}"
    if found["over"]:
        yield f"{size(found['over'])} over the limit: the oldest goes, raw events first"


def _rule(rule: dict[str, Any]) -> str:
    limits = [
        words.format(rule[name])
        for name, words in (("days", "{} days"), ("count", "the newest {}"))
        if rule.get(name)
    ]
    return f"{rule['kind']} of {rule.get('project') or 'every project'}: {', '.join(limits)}"
