"""`mem remember`: keep something by hand; the next sessions begin with it."""

from __future__ import annotations

import argparse
import os
import sys

HELP = "keep a fact, decision or preference by hand"

# Variables that agents set for the shells they start: what comes from there was not
# typed by a person, though it may look like a terminal.
AGENTS = (
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CODEX_SANDBOX",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "OPENCODE",
    "QWEN_CODE",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """The text and where it belongs."""
    parser.add_argument("text", nargs="*", help="what to keep; without it, standard input")
    parser.add_argument("--title", help="at most 12 words; default: how the text begins")
    parser.add_argument("--project", help="label or id; default: the project of --cwd")
    parser.add_argument("--global", dest="personal", action="store_true",
                        help="for every project, as a memory of your own")  # fmt: skip
    parser.add_argument("--replaces", metavar="ID", action="append", type=int,
                        help="a memory that it takes the place of; may be repeated")  # fmt: skip
    parser.add_argument("--cwd", help="directory in the project; default: this one")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 kept.

    Raises:
        UsageError: there is nothing to keep.
    """
    from claude_mem_core.cli.emit import emit, emit_json
    from claude_mem_core.cli.recalled import client, here
    from claude_mem_core.errors import InvalidInput, UsageError

    text = " ".join(args.text) or _read()
    if not text.strip():
        raise UsageError('say what to keep: `mem remember "we deploy on Tuesdays"`')
    body = {
        "text": text, "title": args.title, "project": args.project,
        "cwd": args.cwd or here(), "typed": is_typed(), "metadata": {"source": "mem remember"},
    }  # fmt: skip
    if args.replaces:
        body["replaces"] = args.replaces
    if args.personal:
        _only_typed(args, typed=body["typed"])
        body["personal"] = True
    kept = client().post("/api/memory/save", body)
    if not kept["success"]:
        raise InvalidInput(kept["message"])
    if args.json:
        emit_json(kept)
        return 0
    if args.personal:
        emit(f"{kept['message']} for every project; `mem personal` lists what is.")
        return 0
    emit(f"{kept['message']} in project {kept['project']}.")
    if not body["typed"]:
        emit("It did not come from a terminal, so it is kept as something from outside:")
        emit("search finds it, and sessions see its title only.")
    return 0


def _only_typed(args: argparse.Namespace, *, typed: bool) -> None:
    """What every session reads comes from a person, not from what an agent was told."""
    from claude_mem_core.errors import UsageError

    if not typed:
        raise UsageError("only a person at a terminal can say that: run it in one")
    if args.project:
        raise UsageError("--global is for every project: leave out --project")


def _read() -> str:
    from claude_mem_core.errors import UsageError

    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError('say what to keep: `mem remember "we deploy on Tuesdays"`')
    return sys.stdin.buffer.read(1 << 20).decode("utf-8", "replace")


def is_typed() -> bool:
    """Whether a person at a terminal runs this, as far as that can be told."""
    if any(os.environ.get(name) for name in AGENTS):
        return False
    return sys.stdin is not None and sys.stdin.isatty()
