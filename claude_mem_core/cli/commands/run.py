"""`mem run`: be the worker in the foreground, for process managers and containers."""

from __future__ import annotations

import argparse

from claude_mem_core.paths import data_dir

HELP = "run the worker in the foreground"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tcp", action="store_true", help="also listen on loopback TCP")
    parser.add_argument("--port", type=int, default=0, help="TCP port (switches TCP on)")


def run(args: argparse.Namespace) -> int:
    from claude_mem_core.worker import main

    tcp = args.tcp or args.port > 0
    options = main.Options(data_dir=data_dir(), tcp=tcp, port=args.port, foreground=True)
    return main.run(options)
