"""`mem show`: memories in full, by their ids."""

from __future__ import annotations

import argparse

HELP = "show memories in full: 123, S4 (session), P7 (prompt)"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help="#12 or 12, S3, P4")
    parser.add_argument("--project", help="only if they belong to this project")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 when all are there, 1 when some are missing; those are named."""
    from claude_mem_core.cli.emit import complain, emit_json
    from claude_mem_core.cli.recalled import client, show
    from claude_mem_core.recall.details import missing_text

    found = client().get("/api/details", ids=",".join(args.ids), project=args.project,
                         format="json" if args.json else "full")  # fmt: skip
    missing = found["missing"]
    if args.json:
        emit_json(found)
    elif found["content"][0]["text"]:
        show(found, as_json=False)
    if missing and not args.json:
        complain(f"mem: {missing_text(missing)}")
    return 1 if missing else 0
