"""`mem stats`: how much is remembered."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

HELP = "show how much is remembered, by project"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 done."""
    from claude_mem_core.cli.emit import emit, emit_json
    from claude_mem_core.cli.recalled import client

    found = client().get("/api/stats")
    if args.json:
        emit_json(found)
        return 0
    for line in lines(found):
        emit(line)
    return 0


def lines(found: dict[str, Any]) -> Iterator[str]:
    """The figures for people."""
    from claude_mem_core.cli.worker_text import size
    from claude_mem_core.render import for_prompt

    database = found["database"]
    for name in ("observations", "summaries", "prompts", "sessions"):
        if name in database:
            yield f"{name:<14} {database[name]:>10,}"
    if database.get("size"):
        yield f"{'database':<14} {size(database['size']):>10}  {database['path']}"
    by_project = found.get("byProject") or {}
    if by_project:
        yield "\nobservations by project:"
    for label, count in sorted(
        by_project.items(), key=lambda pair: (-_count(pair[1]), pair[0])
    ):
        yield f"  {for_prompt(label, 60):<40} {_count(count):>10,}"


def _count(value: Any) -> int:
    return int(value.get("observations", 0)) if isinstance(value, dict) else int(value)
