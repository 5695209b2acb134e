"""`mem mcp install`, `remove` and `status`: our MCP server in the hosts' configuration."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.cli.install import hook
from claude_mem_core.cli.install.hosts import (
    Target,
    chosen,
    registry_for,
    setup_for,
    targets,
)
from claude_mem_core.cli.install.run import (
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
from claude_mem_core.types import FileChange, HostSetup, McpStatus, RegistersMcp


def change(args: Namespace) -> int:
    """Plan, show, ask, do; 1 when a host failed."""
    paths, remove = Paths(data_dir()), args.action == "remove"
    setup = _setup(paths, args.scope)
    wanted = _wanted(paths, args, setup)
    courses = planned(wanted, lambda target: plan(target, setup, remove=remove))
    if not args.json:
        show(courses, paths)
    ask = terminal() and not (args.yes or args.json) and any(c.changes for c in courses)
    if not args.dry_run and (not ask or agreed("Make these changes?")):
        if not remove and not all(course.error for course in courses):
            hook.install(paths, (target.record for target in targets(registry_for(paths))))
        carry_out(courses, paths)
    done = "removed" if remove else "registered"
    if args.json:
        report_json(courses, done, paths, dry_run=args.dry_run)
    else:
        report(courses, done, paths)
    return exit_code(courses)


def plan(target: Target, setup: HostSetup, *, remove: bool) -> Sequence[FileChange]:
    """What changes in the host's configuration for the server alone.

    Raises:
        MemError: the host takes none from us, or its file can't be edited.
    """
    installer = target.installer
    if not isinstance(installer, RegistersMcp):
        raise UsageError(f"{target.title}: its MCP servers are not ours to write yet")
    work = installer.mcp_uninstall if remove else installer.mcp_install
    return target.guarded(lambda: tuple(work(setup)))


def _setup(paths: Paths, scope: str) -> HostSetup:
    return setup_for(paths, hook.expected(paths), scope=scope, mcp=hook.bridge(paths))


def _wanted(paths: Paths, args: Namespace, setup: HostSetup) -> list[Target]:
    """The named hosts, else those on this machine that take a server."""
    known = targets(registry_for(paths))
    if args.ide:
        return chosen(known, args.ide)
    able = [target for target in known if isinstance(target.installer, RegistersMcp)]
    found = [target for target in able if _is_here(target, setup)]
    if not found:
        names = ", ".join(target.name for target in able) or "none installed"
        raise UsageError(f"no host was found on this machine; name one with --ide ({names})")
    return found


def _is_here(target: Target, setup: HostSetup) -> bool:
    try:
        return target.status(setup).detected
    except MemError:
        return False


def show_status(names: Sequence[str] | None, scope: str, *, as_json: bool) -> int:
    """Print for each host whether the server is registered; 0 done."""
    paths = Paths(data_dir())
    known = targets(registry_for(paths))
    rows = list(_rows(chosen(known, names) if names else known, _setup(paths, scope)))
    if as_json:
        emit_json({"command": hook.bridge(paths), "hosts": rows})
        return 0
    for row in rows:
        state = "registered" if row["registered"] else "not registered"
        emit(f"{row['title']}: {state if row['config'] else 'takes no server from us'}")
        for text in filter(None, (row["config"], *row["problems"])):
            emit(f"  {text}")
    emit("Over HTTP: POST /mcp with `Authorization: Bearer` and the token in the data")
    emit("directory, once `mem start --tcp` or `mem open` has opened a port.")
    return 0


def _rows(wanted: Sequence[Target], setup: HostSetup) -> Iterator[dict[str, Any]]:
    for target in wanted:
        found = _found(target, setup)
        yield {
            "host": target.name,
            "title": target.title,
            "registered": found.registered,
            "config": found.config,
            "problems": list(found.problems),
        }


def _found(target: Target, setup: HostSetup) -> McpStatus:
    installer = target.installer
    if not isinstance(installer, RegistersMcp):
        return McpStatus(registered=False)
    try:
        return target.guarded(lambda: installer.mcp_status(setup))
    except MemError as error:
        return McpStatus(registered=False, problems=(str(error),))
