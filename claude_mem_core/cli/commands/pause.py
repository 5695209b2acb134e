"""`mem pause`: keep nothing and inject nothing, for a while or until `mem resume`."""

from __future__ import annotations

import argparse
import re
import time

from claude_mem_core.cli.emit import emit
from claude_mem_core.cli.pausing import incognito, put
from claude_mem_core.errors import UsageError
from claude_mem_core.settings.pausing import OPEN_END

HELP = "keep nothing and show agents nothing, for a while or until `mem resume`"

UNITS = {"m": 60, "h": 3_600, "d": 86_400}
LONGEST_S = 366 * 86_400


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--for", dest="span", metavar="TIME", default="", help="such as 30m, 2h or 1d"
    )
    parser.add_argument(
        "--session", nargs="?", const="", metavar="ID",
        help="only this session, by the host's id; the newest one of this folder without ID",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 paused, 2 the time can't be read, or there is no such session."""
    if args.session is not None:
        if args.span:
            raise UsageError("--for and --session do not go together: a session ends by itself")
        return incognito(args.session, on=True, as_json=args.json)
    until = int((time.time() + seconds(args.span)) * 1000) if args.span else OPEN_END
    text = put(until, as_json=args.json)
    if not args.json:
        emit(f"The memory is {text}: nothing is kept, agents are shown nothing.")
        emit("`mem resume` ends it." if until == OPEN_END else "`mem resume` ends it earlier.")
    return 0


def seconds(text: str) -> int:
    """A span of time as people write it.

    Raises:
        UsageError: it is none, or longer than a year.
    """
    found = re.fullmatch(r"\s*(\d{1,6})\s*([mhd])\s*", text)
    span = int(found[1]) * UNITS[found[2]] if found else 0
    if not 0 < span <= LONGEST_S:
        raise UsageError(f"--for {text!r} is no time: write 30m, 2h or 1d")
    return span
