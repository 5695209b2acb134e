"""`mem uninstall`: take the hooks out; the memory stays unless it is to be purged."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from claude_mem_core.cli.emit import emit
from claude_mem_core.cli.install import hook, purge
from claude_mem_core.cli.install.hosts import (
    Target,
    chosen,
    parts,
    registry_for,
    setup_for,
    targets,
)
from claude_mem_core.cli.install.run import (
    Course,
    Plan,
    agreed,
    carry_out,
    exit_code,
    planned,
    report,
    report_json,
    show,
    terminal,
)
from claude_mem_core.errors import UsageError
from claude_mem_core.paths import Paths, data_dir
from claude_mem_core.types import HostSetup

HELP = "take the hooks out of the agents again"


def arguments(parser: ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "--ide", action="append", metavar="HOST", help="only this host; repeatable"
    )
    parser.add_argument(
        "--scope",
        choices=("user", "project", "local"),
        default="user",
        help="the scope that was installed into (default: user)",
    )
    parser.add_argument(
        "--purge", action="store_true", help="delete the memory and everything else of ours"
    )
    parser.add_argument("--yes", "-y", action="store_true", help="don't ask")
    parser.add_argument("--dry-run", action="store_true", help="show the changes, make none")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> int:
    """Plan, show, ask, take out; 1 when a host failed."""
    paths = Paths(data_dir())
    setup = setup_for(paths, hook.expected(paths), scope=args.scope)
    if args.purge and not (args.yes or args.dry_run or terminal()):
        raise UsageError("--purge deletes the memory for good; say --yes as well")
    known = targets(registry_for(paths))
    wanted = chosen(known, args.ide) if args.ide else list(known)
    wanted = parts(wanted, setup, remove=True)
    courses = planned(_able(wanted, setup, args), _plan(setup))
    if not args.json:
        show(courses, paths)
    purged: list[str] = []
    if not args.dry_run and _may(args, courses, paths):
        carry_out(courses, paths)
        if args.purge and not exit_code(courses):
            purged = purge.purge(paths)
    _report(args, courses, paths, purged)
    return exit_code(courses)


def _able(wanted: Sequence[Target], setup: HostSetup, args: Namespace) -> list[Target]:
    """Without names, hosts that know no such scope are left out."""
    if args.ide or setup.scope == "user":
        return list(wanted)
    return [target for target in wanted if not planned([target], _plan(setup))[0].error]


def _plan(setup: HostSetup) -> Plan:
    return lambda target: target.plan(setup, remove=True)


def _may(args: Namespace, courses: Sequence[Course], paths: Paths) -> bool:
    if args.yes or args.json or not terminal():
        return True
    if args.purge:
        return agreed(f"Delete the memory in {paths.data} for good?")
    return not any(course.changes for course in courses) or agreed("Make these changes?")


def _report(
    args: Namespace, courses: Sequence[Course], paths: Paths, purged: Sequence[str]
) -> None:
    if args.json:
        report_json(courses, "uninstalled", paths, purged=list(purged), dry_run=args.dry_run)
        return
    report(courses, "uninstalled", paths)
    if purged:
        emit(f"Deleted from {paths.data}: {', '.join(purged)}.")
        others = purge.left(paths)
        if others:
            emit(f"Not ours, so it stays there: {', '.join(others)}.")
        emit("Agents that are still running need a restart.")
    elif not args.purge:
        emit(f"What stays: {paths.data} with the memory, settings and copies of changed")
        emit("files. `mem uninstall --purge` deletes it.")
