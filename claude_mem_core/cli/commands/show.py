"""`mem show`: memories in full, by their ids."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

HELP = "show memories in full: 123, S4 (session), P7 (prompt)"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help="#12 or 12, S3, P4")
    parser.add_argument("--project", help="only if they belong to this project")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 when all are there, 1 when some are missing; those are named."""
    from claude_mem_core.cli.emit import complain, emit_json
    from claude_mem_core.cli.recalled import client, in_project, show

    ids = _ids(args.ids)
    found = client().get("/api/details", ids=",".join(ids), project=in_project(args.project),
                         format="json" if args.json else "full")  # fmt: skip
    missing = found["missing"]
    if args.json:
        emit_json(found)
    elif found["content"][0]["text"]:
        show(found, as_json=False)
    if missing and not args.json:
        complain(f"mem: {_missing(missing, args.project)}")
    return 1 if missing else 0


def _ids(given: Sequence[str]) -> list[str]:
    """The ids of the command line, each checked; several may stand between commas.

    Raises:
        UsageError: none is there.
        InvalidInput: one of them is no id.
    """
    from claude_mem_core.errors import UsageError
    from claude_mem_core.recall.records import parse_key

    ids = [part.strip() for text in given for part in text.split(",") if part.strip()]
    if not ids:
        raise UsageError("give ids like 12, S3 or P4; `mem search WORDS` gives them")
    for name in ids:
        parse_key(name)
    return ids


def _missing(missing: Sequence[str], project: str | None) -> str:
    where = f" in project {project}" if project else ""
    them = "them" if len(missing) > 1 else "it"
    return (
        f"nothing{where} has the id {', '.join(missing)}: mistyped, or deleted since."
        f" `mem search WORDS` finds {them} by what was said"
    )
