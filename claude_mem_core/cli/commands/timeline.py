"""`mem timeline`: what happened around a memory, a time, or the best match of words."""

from __future__ import annotations

import argparse

HELP = "show what happened around a memory, a time or a match"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "anchor", nargs="?", help="12, S3, P4, a day (YYYY-MM-DD) or an ISO time; or use --query"
    )
    parser.add_argument("--query", help="words; the best match is the anchor")
    parser.add_argument("--before", type=int, default=3, help="records before (3, most 20)")
    parser.add_argument("--after", type=int, default=3, help="records after (3, most 20)")
    parser.add_argument("--project", help="label or id of a project")
    parser.add_argument("--host", help="only what this agent program recorded")
    parser.add_argument("--json", action="store_true", help="print a JSON list")


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when there is no such anchor."""
    from claude_mem_core.cli.recalled import client, in_project, show
    from claude_mem_core.errors import UsageError

    if not args.anchor and not args.query:
        raise UsageError("give an id, a time, or --query WORDS")
    found = client().get(
        "/api/timeline",
        anchor=args.anchor,
        query=args.query,
        depth_before=max(0, args.before),
        depth_after=max(0, args.after),
        project=in_project(args.project),
        platformSource=args.host,
        format="json" if args.json else "index",
    )
    show(found, as_json=args.json)
    return 0 if args.json or found.get("found", True) else 1
