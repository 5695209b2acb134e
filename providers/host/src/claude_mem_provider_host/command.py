"""`mem host-observer`: the other end of the loopback observer."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import Command
from claude_mem_provider_host import USUAL_PORT

CLAUDE_MEM_CONTRACT = 1


def serve(args: Namespace) -> int:
    """Answers on the loopback port until it is stopped."""
    from claude_mem_provider_host.shim import serve

    return serve(args.agent, args.port, args.timeout)


def arguments(parser: ArgumentParser) -> None:
    """The options."""
    help_text = "agent program (claude, codex, gemini, qwen) or a command that reads a prompt"
    parser.add_argument("--agent", required=True, help=help_text)
    parser.add_argument("--port", type=int, default=USUAL_PORT, help="port on 127.0.0.1")
    parser.add_argument("--timeout", type=float, default=150.0, help="seconds for one answer")


@hookimpl
def mem_commands() -> Iterator[Command]:
    yield Command(
        name="host-observer",
        summary="answer the observer's requests with a logged-in agent program",
        run=serve,
        arguments=arguments,
    )
