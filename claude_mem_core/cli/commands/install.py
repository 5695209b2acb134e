"""`mem install`: teach the coding agents of this machine to remember."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

import attrs

from claude_mem_core.cli.emit import emit
from claude_mem_core.cli.install import hook
from claude_mem_core.cli.install.elsewhere import Elsewhere, elsewhere
from claude_mem_core.cli.install.extras import NO_SKILLS
from claude_mem_core.cli.install.hosts import (
    Target,
    chosen,
    parts,
    registry_for,
    setup_for,
    targets,
)
from claude_mem_core.cli.install.provider import Choice, looked_up
from claude_mem_core.cli.install.run import (
    Course,
    agreed,
    carry_out,
    exit_code,
    planned,
    report,
    report_json,
    show,
    terminal,
)
from claude_mem_core.errors import MemError, UsageError
from claude_mem_core.paths import Paths, data_dir
from claude_mem_core.types import HostSetup

HELP = "put hooks, MCP server and skills into Claude Code, Kimi Code and other agents"


NO_HOSTS = (
    "no host's package is installed; choose one:"
    ' pip install "claude-mem-core[claude-code]" (or kimi, or all), then `mem install`'
)


def arguments(parser: ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "--ide",
        action="append",
        metavar="HOST",
        help="this host, or one that a TOML file teaches; repeatable",
    )
    parser.add_argument(
        "--scope",
        choices=("user", "project", "local"),
        default="user",
        help="for you everywhere, for the repository, or for you in it (default: user)",
    )
    parser.add_argument(
        "--no-mcp", action="store_true", help="leave the hosts' MCP servers as they are"
    )
    parser.add_argument("--no-skills", action="store_true", help="write no skill files")
    parser.add_argument("--yes", "-y", action="store_true", help="don't ask")
    parser.add_argument("--dry-run", action="store_true", help="show the changes, make none")
    parser.add_argument(
        "--disable-auto-memory",
        action="store_true",
        help="switch Claude Code's own memory off, until uninstall",
    )
    parser.add_argument(
        "--plugin",
        action="store_true",
        help="be a plugin of Claude Code instead of hooks in its settings",
    )
    parser.add_argument(
        "--provider",
        metavar="NAME",
        help="the model service that makes the memories from now on; `builtin`: rules",
    )
    parser.add_argument("--model", metavar="NAME", default="", help="its model")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> int:
    """Plan, show, ask, install; 1 when a host failed."""
    paths = Paths(data_dir())
    setup = setup_for(
        paths, hook.expected(paths), scope=args.scope, options=_options(args),
        mcp=() if args.no_mcp else hook.bridge(paths),
    )  # fmt: skip
    choice = _choice(args, paths)  # what can't be chosen stops it before anything is changed
    known = targets(registry_for(paths))
    wanted = parts(_wanted(args, setup, known), setup, remove=False)
    courses = planned(wanted, lambda target: target.plan(setup, remove=False))
    taken = elsewhere(courses, paths)
    if not args.json:
        show(courses, paths)
        for other in taken:
            emit(f"! {other.told(paths)}.\n")
    chosen_now = ""
    if not args.dry_run and _may(args, courses, taken, paths):
        if any(course.error is None for course in courses):
            hook.install(paths, (target.record for target in known))
        carry_out(courses, paths)
        if choice is not None:
            chosen_now = choice.write()
    _add_notes(courses, setup)
    _report(args, courses, paths, taken, chosen_now)
    return exit_code(courses)


def _choice(args: Namespace, paths: Paths) -> Choice | None:
    if args.provider is None:
        if args.model:
            raise UsageError("--model needs --provider NAME")
        return None
    return looked_up(paths, args.provider, args.model, ask=not (args.yes or args.json))


def _options(args: Namespace) -> frozenset[str]:
    asked = {
        "disable-auto-memory": args.disable_auto_memory,
        NO_SKILLS: args.no_skills,
        "plugin": args.plugin,
    }
    return frozenset(name for name, wished in asked.items() if wished)


def _wanted(args: Namespace, setup: HostSetup, known: Sequence[Target]) -> list[Target]:
    """The named hosts; with none named, those that are on this machine.

    Raises:
        UnknownName: one of the names is not known.
        UsageError: nobody can be asked, or no host was found.
    """
    if args.ide:
        return chosen(known, args.ide)
    if not (args.yes or args.dry_run or terminal()):
        raise UsageError("nobody can be asked here; name a host with --ide, or say --yes")
    found = [target for target in known if _is_here(target, setup)]
    if not found:
        if not known:
            raise UsageError(NO_HOSTS)
        names = ", ".join(target.name for target in known)
        raise UsageError(
            f"no host was found on this machine; name one with --ide (known: {names})"
        )
    return found


def _is_here(target: Target, setup: HostSetup) -> bool:
    """Whether the host is on this machine, and has the scope that is asked for."""
    try:
        return target.status(setup).detected
    except MemError:
        return False


def _may(
    args: Namespace, courses: Sequence[Course], taken: Sequence[Elsewhere], paths: Paths
) -> bool:
    """Whether the changes are wanted: said so, named without a terminal, or agreed.

    Raises:
        UsageError: hooks of another data directory are in use, and nobody can be asked.
    """
    in_use = [other for other in taken if other.in_use]
    if in_use and not args.yes and (args.json or not terminal()):
        raise UsageError(f"{in_use[0].told(paths)}. Nothing was changed; say --yes to do it")
    if args.yes or args.json or not terminal() or not any(c.changes for c in courses):
        return True
    titles = " and ".join(course.target.title for course in courses if course.changes)
    return agreed(f"Make these changes for {titles}?")


def _add_notes(courses: Sequence[Course], setup: HostSetup) -> None:
    for course in courses:
        try:
            course.notes = (*course.target.status(setup).problems, *course.target.steps(setup))
        except MemError as error:
            course.notes = (str(error),)


def _report(
    args: Namespace, courses: Sequence[Course], paths: Paths, taken: Sequence[Elsewhere],
    chosen_now: str,
) -> None:  # fmt: skip
    if args.json:
        others = [attrs.asdict(other) for other in taken]
        more = {"takes_over": others, "provider": chosen_now}
        report_json(courses, "installed", paths, dry_run=args.dry_run, **more)
        return
    report(courses, "installed", paths)
    if chosen_now:
        emit(f"models: {chosen_now}")
    if any(course.applied for course in courses):
        emit("Sessions that start from now on are remembered; `mem status` shows how it goes.")
