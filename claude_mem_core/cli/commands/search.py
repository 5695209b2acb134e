"""`mem search`: find memories by their words."""

from __future__ import annotations

import argparse

HELP = "find memories by their words"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="*", help="words; no character is an operator")
    parser.add_argument(
        "--project", action="append", help="label or id of a project; may be given several times"
    )
    parser.add_argument("--type", help="observations, sessions, prompts, or a type")
    parser.add_argument("--host", help="only what this agent program recorded")
    parser.add_argument("--concept", action="append", help="may be given several times")
    parser.add_argument("--file", action="append", help="may be given several times")
    parser.add_argument("--since", metavar="DATE", help="YYYY-MM-DD or an ISO time")
    parser.add_argument("--until", metavar="DATE", help="the last day or time")
    parser.add_argument("--order", choices=("relevance", "date_desc", "date_asc"))
    parser.add_argument("--all-words", action="store_true", help="no partial matches")
    parser.add_argument("--limit", type=int, default=20, help="results (20, most 100)")
    parser.add_argument("--offset", type=int, default=0, help="results to pass over")
    parser.add_argument("--full", action="store_true", help="whole records, not an index")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 done, also when nothing was found."""
    from claude_mem_core.cli.emit import emit_json
    from claude_mem_core.cli.recalled import client, csv, in_project, show

    named = [name for name in args.project or () if in_project(name)]
    found = client().get(
        "/api/search",
        query=" ".join(args.query),
        project=named[0] if len(named) == 1 else None,
        projects=csv(named) if len(named) > 1 else None,
        type=args.type,
        platformSource=args.host,
        concepts=csv(args.concept),
        files=csv(args.file),
        dateStart=args.since,
        dateEnd=args.until,
        orderBy=args.order,
        match="all" if args.all_words else None,
        limit=max(1, args.limit),
        offset=max(0, args.offset),
        format="json" if args.json else "full" if args.full else "index",
    )
    if args.json:
        emit_json(found)
        return 0
    show(found, as_json=False)
    return 0
