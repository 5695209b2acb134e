"""`mem telemetry`: there is none, whatever was said elsewhere; it says so."""

from __future__ import annotations

import argparse
from typing import Any

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.errors import UsageError

HELP = "say that nothing about you is sent, and what else was said about it"
FILE = "telemetry.json"
VARIABLES = ("DO_NOT_TRACK", "CLAUDE_MEM_TELEMETRY")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=("status", "enable", "disable"), default="status",
        help="`enable` is refused: this product has nothing to send",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0; `enable` is refused.

    Raises:
        UsageError: it was to be switched on.
    """
    if args.action == "enable":
        raise UsageError("there is no telemetry in this product; docs/outbound.md lists all calls")
    found = state()
    if args.json:
        emit_json(found)
        return 0
    emit("telemetry is off: this product sends none (decided by: the product itself)")
    for layer, said in found["layers"].items():
        emit(f"  {layer}: {said}; it makes no difference here")
    return 0


def state() -> dict[str, Any]:
    """Off, decided by the product; and what the layers say that decide in claude-mem."""
    import os

    from claude_mem_core.paths import Paths, data_dir

    layers = {name: os.environ[name] for name in VARIABLES if name in os.environ}
    file = Paths(data_dir()).data / FILE
    if file.exists():
        layers[str(file)] = "a file of claude-mem"
    return {"enabled": False, "decided_by": "product", "layers": layers}
