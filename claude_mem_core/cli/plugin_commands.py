"""Subcommands that plugins offer."""

from __future__ import annotations

from argparse import Namespace
from difflib import get_close_matches
from typing import Any

from claude_mem_core.cli.parser import Parser
from claude_mem_core.errors import MemError, PluginError
from claude_mem_core.extensions import registry_of
from claude_mem_core.paths import Paths, data_dir
from claude_mem_core.plugins.calls import Outcome, call_sync, describe
from claude_mem_core.plugins.registry import Registry, State
from claude_mem_core.types import Command


class UnknownCommand(MemError):
    """No command of this name, neither in the core nor from a plugin."""

    exit_code = 1


def run_plugin_command(name: str, rest: list[str]) -> int:
    """Run the subcommand `name` of a plugin with its arguments.

    Raises:
        UnknownCommand: nobody offers it.
        PluginError: it failed with an error that is not ours.
    """
    _, registry = registry_of(Paths(data_dir()))
    commands = {c.name: c for c in registry.records("mem_commands", Command)}
    command = commands.get(name)
    if command is None:
        raise _unknown(name, sorted(commands), registry)
    return _exit_code(name, call_sync(name, command.run, _parsed(command, rest)))


def _parsed(command: Command, rest: list[str]) -> Namespace:
    parser = Parser(prog=f"mem {command.name}", description=command.summary)
    if command.arguments is not None:
        _value(command.name, call_sync(command.name, command.arguments, parser))
    return parser.parse_args(rest)


def _exit_code(name: str, outcome: Outcome) -> int:
    code = _value(name, outcome)
    if code is None:
        return 0
    if not isinstance(code, int):
        raise PluginError(name, f"its command returned {type(code).__name__}, not an exit code")
    return int(code)


def _value(name: str, outcome: Outcome) -> Any:
    error = outcome.error
    if error is None:
        return outcome.value
    if isinstance(error, (MemError, BrokenPipeError)):
        raise error
    raise PluginError(name, f"its command failed: {describe(error)}") from error


def _unknown(name: str, theirs: list[str], registry: Registry) -> UnknownCommand:
    from claude_mem_core.cli.main import known

    near = get_close_matches(name, [*known(), *theirs], n=1)
    guess = f" Did you mean `mem {near[0]}`?" if near else ""
    failed = any(
        plugin.kind in {"command", "plugin"} and plugin.state is State.BROKEN
        for plugin in registry.plugins.values()
    )
    hint = " Some plugins failed to load: `mem plugins`." if failed else ""
    return UnknownCommand(f"unknown command {name!r}.{guess}{hint} See `mem --help`.")
