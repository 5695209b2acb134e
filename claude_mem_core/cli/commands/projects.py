"""`mem projects`: the projects that have memories."""

from __future__ import annotations

import argparse

HELP = "list the projects that have memories"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", help="only those of one agent program")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 done."""
    from claude_mem_core.cli.emit import emit, emit_json
    from claude_mem_core.cli.recalled import client
    from claude_mem_core.render import for_prompt

    found = client().get("/api/projects", platformSource=args.host)
    if args.json:
        emit_json(found)
        return 0
    for label in found["projects"]:
        hosts = [host for host, labels in found["projectsBySource"].items() if label in labels]
        emit(f"{for_prompt(label, 80):<40} {', '.join(sorted(hosts))}")
    if not found["projects"]:
        emit("nothing is remembered yet; `mem install` connects an agent program")
    return 0
