"""`mem update`: how this installation is brought up to date. Nothing is downloaded here."""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import distributions
from pathlib import Path

from claude_mem_core import __version__
from claude_mem_core.cli.emit import emit, emit_json

HELP = "say how to update"
OURS = "claude-mem"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    command = update_command(installed())
    if args.json:
        emit_json({"version": __version__, "command": command, "after": "mem repair"})
        return 0
    emit(f"this is version {__version__}; to update, run")
    emit(f"  {command}")
    emit("  mem repair")
    return 0


def installed() -> list[str]:
    """Our distributions in this environment, the core first."""
    names = {dist.metadata["Name"].lower() for dist in distributions() if dist.metadata["Name"]}
    return sorted(n for n in names if n.startswith(OURS)) or ["claude-mem-core"]


def update_command(names: list[str]) -> str:
    """The command of whatever made this environment: pipx, uv, or pip."""
    prefix = Path(sys.prefix)
    if "pipx" in prefix.parts:
        return "pipx upgrade --include-injected claude-mem-core"
    if "uv" in prefix.parts and "tools" in prefix.parts:
        return "uv tool upgrade claude-mem-core"
    return f"{sys.executable} -m pip install --upgrade {' '.join(names)}"
