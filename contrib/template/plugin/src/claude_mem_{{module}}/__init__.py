"""{{title}}: hooks and records only; the work is imported when it is wanted."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import Command

CLAUDE_MEM_CONTRACT = 1


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> int:
    from claude_mem_{{module}}.work import greeting

    sys.stdout.write(greeting(as_json=args.json) + "\n")
    return 0


@hookimpl
def mem_commands() -> Iterator[Command]:
    yield Command(name="{{name}}", summary="say hello", run=run, arguments=arguments)
