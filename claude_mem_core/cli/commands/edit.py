"""`mem edit`: new words in the place of old ones. The old ones are kept."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from claude_mem_core.cli import correcting
from claude_mem_core.errors import UsageError

HELP = "edit a memory: its title, its text, its facts"
STDIN_CHARS = 1_000_000
FIELDS = ("title", "subtitle", "text", "type", "request", "learned", "completed", "next_steps")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="12 or #12, S3")
    for name in FIELDS:
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, metavar="TEXT", help="new text; - reads standard input")
    parser.add_argument("--fact", action="append", metavar="TEXT", help="all facts anew, one each")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when there is no such memory."""
    words: dict[str, Any] = {
        "narrative" if name == "text" else name: _given(getattr(args, name))
        for name in FIELDS
        if getattr(args, name) is not None
    }
    if args.fact:
        words["facts"] = args.fact
    if not words:
        raise UsageError("say what is to be new, for example: mem edit 12 --title 'New title'")
    return correcting.edited(args.id, words, as_json=args.json)


def _given(value: str) -> str:
    return sys.stdin.read(STDIN_CHARS).rstrip("\n") if value == "-" else value
