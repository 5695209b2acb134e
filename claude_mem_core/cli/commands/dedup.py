"""`mem dedup`: memories that may say the same, for you to look at."""

from __future__ import annotations

import argparse
from typing import Any

HELP = "find memories that say the same in other words; nothing is merged on a guess"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action="list", project=None, status="pending")
    parser.add_argument("--json", action="store_true", help="print a JSON object")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    listed = actions.add_parser("list", help="pairs, the likest first")
    listed.add_argument("--project", help="label or id")
    listed.add_argument("--status", choices=("pending", "distinct", "dismissed"),
                        default="pending", help="default: pending")  # fmt: skip
    scan = actions.add_parser("scan", help="look through every project")
    resolve = actions.add_parser("resolve", help="say what a pair is")
    resolve.add_argument("id", type=int, help="number of the pair")
    resolve.add_argument("status", choices=("distinct", "dismissed"), help="your verdict")
    for action in (listed, scan, resolve):
        action.add_argument("--json", action="store_true", default=argparse.SUPPRESS,
                            help="print a JSON object")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when there is no such pair."""
    from claude_mem_core.cli.emit import emit, emit_json
    from claude_mem_core.cli.recalled import client

    done, text = _done(client(), args)
    if args.json:
        emit_json(done)
    else:
        emit(text)
    return 0


def _done(worker: Any, args: argparse.Namespace) -> tuple[Any, str]:
    if args.action == "scan":
        done = worker.post("/api/dedup/scan", {}, timeout=600)
        return done, f"{done['candidates']} pairs in {done['projects']} projects: `mem dedup list`"
    if args.action == "resolve":
        done = worker.post(f"/api/dedup/candidates/{args.id}/resolve", {"status": args.status})
        return done, f"pair {args.id} is {args.status}"
    done = worker.get("/api/dedup/candidates", project=args.project, status=args.status)
    return done, "\n".join(map(_line, done["candidates"])) or "no pairs; `mem dedup scan` looks"


def _line(pair: dict[str, Any]) -> str:
    from claude_mem_core.render import for_prompt

    one, other = (for_prompt(pair[name] or "", 70) for name in ("title", "other_title"))
    numbers = f"#{pair['observation_id']} {one} / #{pair['other_id']} {other}"
    return f"{pair['id']:>4}  {pair['score']:.2f}  {numbers}"
