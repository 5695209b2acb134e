"""`mem forget`: out of everything, for good, and proven."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.cli.recalled import client
from claude_mem_core.errors import UsageError

HELP = "forget for good: memories, raw events, indexes, snapshots, and prove it"

PATIENCE_S = 1900.0
SHOWN = 10
DONE = {"rewritten": "rewritten", "deleted": "deleted", "lines": "lines taken out"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--text", metavar="TEXT", help="whatever says this; - reads it from stdin")
    parser.add_argument("--query", metavar="WORDS", help="what a search for all these words finds")
    parser.add_argument("--project", metavar="NAME", help="only of this project, or all of it")
    parser.add_argument("--before", metavar="DATE", help="only what is older, or all of it")
    parser.add_argument("--dry-run", action="store_true", help="only say what would go")
    parser.add_argument("--prove", action="store_true", help="look for it in every file afterwards")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when the proof still finds it somewhere, or the answer was no."""
    wanted = _wanted(args)
    ask = client()
    found = ask.post("/api/forget", {**wanted, "dry_run": True}, timeout=PATIENCE_S)
    if args.dry_run:
        return _shown(args, found)
    if not args.yes and not _agreed(args, found):
        return 1
    body = {**wanted, "dry_run": False, "prove": args.prove}
    done = ask.post("/api/forget", body, timeout=PATIENCE_S)
    if args.json:
        emit_json(done)
    else:
        for line in (*_lines(done, "forgotten"), *_proof(done)):
            emit(line)
    return 1 if done["left"] else 0


def _wanted(args: argparse.Namespace) -> dict[str, str]:
    text = args.text
    if text == "-":  # so that a secret stands in no shell history
        text = sys.stdin.read(10_000).strip("\r\n")
    given = {"text": text, "query": args.query, "project": args.project, "before": args.before}
    wanted = {name: value for name, value in given.items() if value}
    if not wanted:
        raise UsageError("say what: --text, --query, --project, --before, or several of them")
    if text and args.query:
        raise UsageError("--text is exact, --query is a search: give one of them")
    return wanted


def _agreed(args: argparse.Namespace, found: dict[str, Any]) -> bool:
    """Ask; without a terminal nobody can answer."""
    if args.json or args.text == "-" or not sys.stdin.isatty():
        raise UsageError("add --yes to forget without being asked, or --dry-run to look first")
    _shown(args, found)
    emit("There is no undo. Forget it for good? (y/n)")
    return sys.stdin.readline().strip().casefold() in {"y", "yes"}


def _shown(args: argparse.Namespace, found: dict[str, Any]) -> int:
    if args.json:
        emit_json(found)
        return 0
    for line in _lines(found, "would be forgotten"):
        emit(line)
    for card in found["memories"][:SHOWN]:
        emit(f"  #{card['key']}  {card['title']}")
    if found["count"] > SHOWN:
        emit(f"  and {found['count'] - SHOWN} more")
    return 0


def _lines(found: dict[str, Any], what: str) -> Iterator[str]:
    whole = "memory or prompt" if found["count"] == 1 else "memories and prompts"
    counts = [f"{found['count']} {whole}"] if found["count"] else []
    counts += [_counted(n, name.replace("_", " ")) for name, n in sorted(found["rows"].items())]
    yield f"{', '.join(counts) or 'nothing'} {what}"
    for file in found["files"]:
        yield f"  {file['path']}: {DONE[file['what']]}"


def _counted(count: int, names: str) -> str:
    return f"{count} {names.removesuffix('s') if count == 1 else names}"


def _proof(done: dict[str, Any]) -> Iterator[str]:
    if done["looked"] == 0:
        yield (
            "not proven: what they said was too short to look for, or stands elsewhere too;"
            " `mem forget --text TEXT --prove` looks for one text"
        )
    elif done["proven"] is None:
        yield "`--prove` looks for it in every file"
    elif done["proven"]:
        yield f"proven: none of {done['looked']} files in the data directory holds it"
    for one in done["left"]:
        yield f"! still in {one['place']}: {one['cure']}"
