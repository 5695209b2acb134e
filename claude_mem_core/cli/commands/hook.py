"""`mem hook`: what a host runs for an event, for people and for tests.

It is the installed client itself that runs, in the place of this process; all that is
done here is to see that it is there.
"""

from __future__ import annotations

import os
import sys
from argparse import REMAINDER, ArgumentParser, Namespace

HELP = "take in one event of a host, as its hooks do: `mem hook claude-code Stop < event.json`"


def arguments(parser: ArgumentParser) -> None:
    """HOST and EVENT; whatever a host writes there is no reason to fail."""
    parser.add_argument(
        "words",
        nargs=REMAINDER,
        metavar="HOST EVENT",
        help="the host and its name of the event",
    )


def run(args: Namespace) -> int:
    """Become the hook client. Without a usable data directory: one line, and exit code 0."""
    from claude_mem_core.edge import present
    from claude_mem_core.errors import UsageError
    from claude_mem_core.paths import data_dir

    if not args.words:
        raise UsageError(
            "name the host and its event: `mem hook claude-code Stop < event.json`"
        )
    try:
        data = str(data_dir())
    except UsageError as error:
        sys.stderr.write(f"claude-mem: {_reason(error)}, continuing without memory\n")
        return 0
    if not present.is_current(data) and not _installed(data):
        return 0
    return become([*present.argv(data), *args.words])


def _installed(data: str) -> bool:
    """Install the hook; what stands against it is one line, no reason to fail."""
    from pathlib import Path

    from claude_mem_core.edge.install import ensure_hook
    from claude_mem_core.errors import MemError
    from claude_mem_core.paths import Paths

    try:
        ensure_hook(Paths(Path(data)))
    except (MemError, OSError) as error:
        sys.stderr.write(f"claude-mem: {_reason(error)}, continuing without memory\n")
        return False
    return True


def _reason(error: Exception) -> str:
    text = str(error.strerror or "") if isinstance(error, OSError) else str(error)
    return " ".join(text.split()) or type(error).__name__


def become(argv: list[str]) -> int:
    """Run this program in the place of this process; its exit code where that can't be."""
    if sys.platform != "win32":
        os.execv(argv[0], argv)
    import subprocess

    return subprocess.run(argv, check=False).returncode
