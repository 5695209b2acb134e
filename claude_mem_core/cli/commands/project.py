"""`mem project`: where projects are, and making two of them one."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from typing import Any

NO_MARKER = (
    "no marker file (.claude-mem.json or .claude-mem-project) stands in {folder} or above"
    " it, outside of git; make one where the project begins"
)
HELP = "list projects as places; rename, merge, split, adopt, link them, and take it back"


def arguments(parser: argparse.ArgumentParser) -> None:
    from claude_mem_core.cli import regrouping

    parser.add_argument("--json", action="store_true", help="print a JSON object")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    parser.set_defaults(action="list")
    _action(actions, "list", "every project with its place, and what could be linked")
    link = _action(actions, "link", "make a project one with another: both read all of it")
    link.add_argument("names", nargs="+", metavar="PROJECT",
                      help="OTHER for the project of this directory, or PROJECT OTHER")  # fmt: skip
    unlink = _action(actions, "unlink", "take a link back")
    unlink.add_argument("name", nargs="?", metavar="PROJECT",
                        help="label or id; default: the project of this directory")  # fmt: skip
    confirm = _action(actions, "confirm", "agree that a marked folder is one project")
    confirm.add_argument("folder", nargs="?", metavar="DIR",
                         help="the folder, or one below it; default: this one")  # fmt: skip
    regrouping.arguments(lambda name, text: _action(actions, name, text))


def _action(actions: Any, name: str, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=text, description=text)
    parser.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print a JSON object"
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when there is no such project."""
    from claude_mem_core.cli import regrouping

    actions = {"list": _list, "link": _link, "unlink": _unlink, "confirm": _confirm}
    actions.update(regrouping.ACTIONS)
    return actions[args.action](args)


def _list(args: argparse.Namespace) -> int:
    from claude_mem_core.cli.emit import emit, emit_json
    from claude_mem_core.cli.recalled import client

    found = client().get("/api/admin/projects")
    if args.json:
        emit_json(found)
        return 0
    for line in lines(found):
        emit(line)
    return 0


def lines(found: dict[str, Any]) -> Iterator[str]:
    """A line for each project, then what could be linked."""
    from claude_mem_core.render import for_prompt

    for row in found["projects"]:
        label = for_prompt(row["label"], 80)
        count = f"{row['observations']:,} observations"
        yield f"{label:<32} {row['kind']:<11} {count:>20}  {_where(row)}".rstrip()
        if row["aliases"]:
            yield f"  also: {', '.join(for_prompt(name, 80) for name in row['aliases'])}"
    if not found["projects"]:
        yield "no project yet; `mem install` connects an agent program"
    for clone in found["clones"]:
        yield f"* {clone['offer']}"


def _where(row: dict[str, Any]) -> str:
    if row["linked_to"]:
        return f"{row['place']} (linked with {row['linked_to']})".lstrip()
    return f"{row['place']} (gone)" if row["gone"] else row["place"]


def _link(args: argparse.Namespace) -> int:
    from claude_mem_core.errors import UsageError

    if len(args.names) > 2:
        raise UsageError("name one project, or two: `mem project link PROJECT OTHER`")
    return _ask("link", args, args.names[:-1], {"other": args.names[-1]})


def _unlink(args: argparse.Namespace) -> int:
    return _ask("unlink", args, [args.name] if args.name else [], {})


def _confirm(args: argparse.Namespace) -> int:
    """A file alone groups nothing: whoever unpacks an archive did not write its marker."""
    from claude_mem_core.cli.emit import emit, emit_json
    from claude_mem_core.cli.install.run import agreed, terminal
    from claude_mem_core.cli.recalled import here
    from claude_mem_core.errors import UsageError
    from claude_mem_core.paths import Paths, data_dir, home_dir
    from claude_mem_core.projects import place_of
    from claude_mem_core.settings import SettingsSource

    source = SettingsSource(Paths(data_dir()))
    settings, folder = source.current(), os.path.abspath(args.folder or here())
    place = place_of(folder, settings, str(home_dir()))
    if not place.marked:
        raise UsageError(NO_MARKER.format(folder=folder))
    if place.kind == "folder":
        if not terminal():
            raise UsageError("this is asked at a terminal only; run the command in one")
        name = f" under the name {place.alias}" if place.alias else ""
        if not agreed(f"Make {place.marked} one project with all below it{name}?"):
            return 1
        folders = [*settings["CLAUDE_MEM_PROJECT_FOLDERS"], place.marked]
        source.set("CLAUDE_MEM_PROJECT_FOLDERS", json.dumps(folders))
    if args.json:
        emit_json({"folder": place.marked, "confirmed": True})
    else:
        emit(f"{place.marked} is one project, with all below it")
    return 0


def _ask(action: str, args: argparse.Namespace, named: list[str], body: dict[str, str]) -> int:
    from claude_mem_core.cli.emit import emit, emit_json
    from claude_mem_core.cli.recalled import client, here

    whose = {"project": named[0]} if named else {"cwd": here()}
    done = client().post(f"/api/admin/projects/{action}", {**whose, **body})
    if args.json:
        emit_json(done)
    elif action == "link":
        emit(
            f"{done['project']} and {done['with']} are one project from now on;"
            f" `mem project unlink {done['project']}` takes it back"
        )
    else:
        emit(f"{done['project']} is a project of its own again, apart from {done['with']}")
    return 0
