"""The actions of `mem project` that put projects in another order, and take it back."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.cli.recalled import client, here
from claude_mem_core.errors import UsageError

Parser = argparse.ArgumentParser


def arguments(add: Callable[[str, str], Parser]) -> None:
    """The parsers of these actions; `add` makes one of a name and a text."""
    rename = add("rename", "give a project, or one of its worktrees, another name")
    rename.add_argument("project", help="label or id")
    rename.add_argument("name", help="the new name; the old one goes on leading there")
    alias = add("alias", "let one more name mean a project")
    alias.add_argument("project", help="label or id; with --remove the name to take away")
    alias.add_argument("name", nargs="?", help="the other name")
    alias.add_argument("--remove", action="store_true", help="take a name away")
    merge = add("merge", "make projects one: all of them read what each remembers")
    merge.add_argument("projects", nargs="+", metavar="PROJECT",
                       help="one or more, and the one they go into")  # fmt: skip
    split = add("split", "take a merged project out, or apart what was merged into it")
    split.add_argument("project", help="label or id")
    adopt = add("adopt", "make a repository one with what its worktrees have apart")
    adopt.add_argument("project", nargs="?", help="label or id; default: this directory's")
    adopt.add_argument("--branch", help="only the worktree that has this branch checked out")
    adopt.add_argument("--dry-run", action="store_true", help="only say what would be adopted")
    undo = add("undo", "take back what was done to projects, the newest first")
    undo.add_argument("number", nargs="?", type=int, help="as `mem project changes` shows it")
    add("changes", "what was done to projects")


def _ask(action: str, body: Mapping[str, Any]) -> Any:
    return client().post(f"/api/admin/projects/{action}", dict(body))


def _told(args: argparse.Namespace, done: Any, text: str) -> int:
    if args.json:
        emit_json(done)
        return 0
    emit(text)
    emit(f"  take it back: mem project undo {done['number']}")
    return 0


def rename(args: argparse.Namespace) -> int:
    """`mem project rename OLD NEW`."""
    done = _ask("rename", {"project": args.project, "name": args.name})
    return _told(args, done, f"renamed: {done['what']}")


def alias(args: argparse.Namespace) -> int:
    """`mem project alias PROJECT NAME`, or `--remove NAME`."""
    if args.remove:
        done = _ask("unalias", {"name": args.project})
        return _told(args, done, f"{done['what']} no longer means {done['project']}")
    if not args.name:
        raise UsageError("say both names: `mem project alias PROJECT NAME`")
    done = _ask("alias", {"project": args.project, "name": args.name})
    return _told(args, done, f"{done['what']} means {done['project']} as well")


def merge(args: argparse.Namespace) -> int:
    """`mem project merge OLD... NEW`."""
    if len(args.projects) < 2:
        raise UsageError("say what goes into what: `mem project merge OLD NEW`")
    done = _ask("merge", {"projects": args.projects[:-1], "into": args.projects[-1]})
    return _told(args, done, f"merged: {done['what']}; every row stays where it is")


def split(args: argparse.Namespace) -> int:
    """`mem project split PROJECT`."""
    done = _ask("split", {"project": args.project})
    return _told(args, done, f"a project of its own again: {done['what']}")


def adopt(args: argparse.Namespace) -> int:
    """`mem project adopt`: what it would do with `--dry-run`."""
    whose = {"project": args.project} if args.project else {"cwd": here()}
    done = _ask("adopt", {**whose, "branch": args.branch, "dry_run": args.dry_run})
    names = ", ".join(one["label"] for one in done["adopted"])
    if args.dry_run:
        if args.json:
            emit_json(done)
        else:
            emit(f"{done['project']} would adopt: {names}")
        return 0
    return _told(args, done, f"{done['project']} has adopted: {names}")


def undo(args: argparse.Namespace) -> int:
    """`mem project undo [NUMBER]`."""
    done = _ask("undo", {"number": args.number})
    if args.json:
        emit_json(done)
    else:
        emit(f"taken back: {done['action']} {done['what']}")
    return 0


def changes(args: argparse.Namespace) -> int:
    """`mem project changes`: newest first."""
    from claude_mem_core.recall.dates import minute
    from claude_mem_core.render import for_prompt

    found = client().get("/api/admin/projects/changes")
    if args.json:
        emit_json(found)
        return 0
    for one in found["changes"]:
        undone = " (taken back)" if one["undone_ms"] else ""
        what = for_prompt(one["what"], 200)
        emit(f"{one['number']:>4}  {minute(one['at_ms'])}  {one['action']}: {what}{undone}")
    if not found["changes"]:
        emit("nothing was done to projects yet")
    return 0


ACTIONS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "rename": rename, "alias": alias, "merge": merge, "split": split, "adopt": adopt,
    "undo": undo, "changes": changes,
}  # fmt: skip
