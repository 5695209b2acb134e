"""`mem mcp`: the memory's tools in the hosts: put in, taken out, looked at, served."""

from __future__ import annotations

import os
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Callable

from claude_mem_core.errors import UsageError

HELP = "the memory's tools in the hosts: install, remove, status, allow, serve"

SCOPES = ("user", "project", "local")


def arguments(parser: ArgumentParser) -> None:
    """The actions and their options."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    status = actions.add_parser("status", help="where the server is registered (the default)")
    _places(status)
    for name, text in (
        ("install", "name the server in the hosts' configuration"),
        ("remove", "take it out of the hosts' configuration"),
    ):
        action = actions.add_parser(name, help=text)
        _places(action)
        action.add_argument("--yes", "-y", action="store_true", help="don't ask")
        action.add_argument("--dry-run", action="store_true", help="show changes, make none")
    for name, text in (
        ("allow", "let a client's tools do more than read its own project"),
        ("deny", "take that back"),
    ):
        action = actions.add_parser(name, help=text)
        action.add_argument("client", help="name of a host, or *: claude-code, kimi, ...")
        action.add_argument("--all-projects", action="store_true", help="read every project")
        action.add_argument("--write", action="store_true", help="tools that change something")
    serve = actions.add_parser(
        "serve", help="speak MCP over stdin and stdout, as hosts start it"
    )
    serve.add_argument(
        "--client", default="mcp", help="name of the client, for `mem mcp allow`"
    )


def _places(parser: ArgumentParser) -> None:
    parser.add_argument("--ide", action="append", metavar="HOST", help="this host; repeatable")
    parser.add_argument("--scope", choices=SCOPES, default="user", help="default: user")
    parser.add_argument("--json", action="store_true", default=SUPPRESS, help="print JSON")


def run(args: Namespace) -> int:
    """Do one of the actions; without one, show the status."""
    actions: dict[str, Callable[[Namespace], int]] = {
        "status": _status,
        "install": _registration,
        "remove": _registration,
        "allow": _permission,
        "deny": _permission,
        "serve": _serve,
    }
    if args.action is None:
        args.action, args.ide, args.scope = "status", None, "user"
    return actions[args.action](args)


def _status(args: Namespace) -> int:
    from claude_mem_core.cli.install.registration import show_status

    return show_status(args.ide, args.scope, as_json=args.json)


def _registration(args: Namespace) -> int:
    from claude_mem_core.cli.install.registration import change

    return change(args)


def _permission(args: Namespace) -> int:
    """Write who may do more into the settings of this machine."""
    from claude_mem_core.cli.emit import emit
    from claude_mem_core.paths import Paths, data_dir
    from claude_mem_core.settings import SettingsSource

    rights = {
        "CLAUDE_MEM_MCP_ALL_PROJECTS": args.all_projects,
        "CLAUDE_MEM_MCP_WRITE": args.write,
    }
    if not any(rights.values()):
        raise UsageError("say what: --all-projects, --write, or both")
    source = SettingsSource(Paths(data_dir()))
    for key, wished in rights.items():
        if wished:
            others = [name for name in source.current()[key] if name != args.client]
            names = [*others, args.client] if args.action == "allow" else others
            source.set(key, ",".join(names))
            emit(f"{key}={','.join(names)}")
    return 0


def _serve(args: Namespace) -> int:
    """Become the bridge; nothing but the protocol may be printed from here on."""
    from claude_mem_core.cli.commands.hook import become
    from claude_mem_core.edge import bridge_argv, ensure_hook
    from claude_mem_core.paths import Paths, data_dir

    paths = Paths(data_dir())
    ensure_hook(paths)
    os.environ.pop("PYTHONPATH", None)
    return become([*bridge_argv(paths), args.client])
