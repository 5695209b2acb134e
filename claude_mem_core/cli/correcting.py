"""What the commands that change memories have in common."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from claude_mem_core.cli.client import checked
from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.cli.recalled import client

SAID: Mapping[str, str] = {
    "edit": "edited",
    "merge": "merged: it says what the others said, and they are replaced by it",
    "delete": "deleted; it can be brought back for 7 days",
    "pin": "pinned: it stands in every context of its project",
    "unpin": "not pinned any more",
    "wrong": "marked wrong: no session is given it and no search finds it",
    "right": "not marked wrong any more",
}


def ids(parser: argparse.ArgumentParser) -> None:
    """The arguments of a command that changes several memories."""
    parser.add_argument("ids", nargs="+", metavar="ID", help="12 or #12, S3")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def act(action: str, args: argparse.Namespace) -> int:
    """Change memories, all of them or none, and say how to take it back."""
    body = {"keys": [name_of(given) for given in args.ids], "action": action}
    return told(client().post("/api/memories/bulk", body), as_json=args.json)


def edited(name: str, words: Mapping[str, Any], *, as_json: bool) -> int:
    """Put new words into a memory."""
    path = f"/api/memories/{quote(name_of(name))}"
    return told(checked(client().request("PATCH", path, json=dict(words))), as_json=as_json)


def told(answer: Any, *, as_json: bool) -> int:
    """Print what was changed."""
    if as_json:
        emit_json(answer)
        return 0
    for one in answer["changed"]:
        action = one["action"]
        undone = action.removeprefix("undo ")
        said = f"taken back ({undone})" if undone != action else SAID[action]
        emit(f"#{one['key']} {said}")
        if undone == action and one["undo"]:
            emit(f"  take it back: mem undo {one['undo']}")
    return 0


def name_of(given: str) -> str:
    """`#12` is `12`."""
    return given.strip().removeprefix("#")
