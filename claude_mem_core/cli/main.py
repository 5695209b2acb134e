"""The `mem` command: finds the subcommand, imports only that one, prints errors plainly.

A subcommand is a module in `cli/commands/` with `HELP`, `arguments(parser)` and
`run(args) -> int`. Exit codes: 0 done, 1 a problem was found or an error named,
2 the command line is wrong, 3 worker or store can't be used, 130 interrupted.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from claude_mem_core import __version__
from claude_mem_core.cli.parser import Parser
from claude_mem_core.errors import UsageError

if TYPE_CHECKING:
    from types import ModuleType

COMMANDS = "claude_mem_core.cli.commands"
OPTIONS = ("--help", "--version", "--no-plugins")


def known() -> list[str]:
    """Names of the built-in commands, from their files; nothing is imported."""
    folder = Path(__file__).parent / "commands"
    stems = (path.stem for path in folder.glob("[a-z]*.py"))
    return sorted(stem.rstrip("_").replace("_", "-") for stem in stems)


def module_of(name: str) -> ModuleType:
    """The module of a built-in command; `import` lives in `import_.py`."""
    stem = name.replace("-", "_")
    suffix = "_" if stem in {"import"} else ""
    return importlib.import_module(f"{COMMANDS}.{stem}{suffix}")


def usage() -> str:
    """What `mem --help` prints: every command with its one line."""
    rows = [(name, module_of(name).HELP) for name in known()]
    lines = [f"  {name:<12} {text}" for name, text in rows]
    head = "usage: mem [--version] [--no-plugins] COMMAND [ARGS]\n\ncommands:\n"
    tail = "\n\n`mem COMMAND --help` says more about one command."
    return head + "\n".join(lines) + tail


def main(argv: list[str]) -> int:
    """Run one command and return its exit code.

    Raises:
        MemError: whatever the command refuses; `run` prints it.
    """
    while argv and argv[0] == "--no-plugins":
        os.environ["CLAUDE_MEM_NO_PLUGINS"] = "1"
        argv = argv[1:]
    if not argv or argv[0] in {"-h", "--help", "help"}:
        print(usage())
        return 0
    if argv[0] in {"--version", "-v", "version"}:
        print(f"mem {__version__}")
        return 0
    if argv[0].startswith("-"):
        raise UsageError(_unknown_option(argv[0]))
    return dispatch(argv[0], argv[1:])


def _unknown_option(given: str) -> str:
    """What `mem` itself takes; options of a command stand behind its name."""
    from difflib import get_close_matches

    near = get_close_matches(given, OPTIONS, n=1)
    guess = f" Did you mean `mem {near[0]}`?" if near else ""
    return (
        f"unknown option {given!r}.{guess} `mem` itself takes {', '.join(OPTIONS)};"
        " other options stand behind a command: `mem COMMAND --help`"
    )


def dispatch(name: str, rest: list[str]) -> int:
    """Run a built-in command, else one that a plugin offers."""
    if name in known():
        module = module_of(name)
        parser = Parser(prog=f"mem {name}", description=module.HELP)
        module.arguments(parser)
        return int(module.run(parser.parse_args(rest)))
    from claude_mem_core.cli.plugin_commands import run_plugin_command

    return run_plugin_command(name, rest)


def run() -> None:
    """Entry point of the console script."""
    from claude_mem_core.errors import MemError

    os.umask(0o077)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that knows fewer letters gets escapes for the others.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except MemError as error:
        from claude_mem_core.cli.emit import complain

        complain(f"mem: {error}")
        code = error.exit_code
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 1
    except OSError as error:  # what is printed finds no room, or something like it
        from claude_mem_core.cli.emit import complain

        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        complain(f"mem: {error}")
        code = 1
    sys.exit(code)


if __name__ == "__main__":
    run()
