"""`mem logs`: the worker's log of today."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from claude_mem_core.cli.emit import emit
from claude_mem_core.paths import Paths, data_dir

HELP = "show the worker's log"
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--lines", type=int, default=50, help="how many lines (50)")
    parser.add_argument("-f", "--follow", action="store_true", help="go on as lines come")
    parser.add_argument("--level", choices=LEVELS, default="DEBUG", help="leave out lower ones")
    parser.add_argument("--path", action="store_true", help="print where the log is")
    parser.add_argument("--json", action="store_true", help="print lines as they are stored")


def run(args: argparse.Namespace) -> int:
    from claude_mem_core.worker import logs

    folder = Paths(data_dir()).logs
    path = logs.log_file(folder)
    if args.path:
        emit(str(path))
        return 0
    lines, _ = logs.tail(folder, max(args.lines, 0))
    for line in lines:
        _show(line, args)
    if args.follow:
        _follow(folder, args)
    elif not lines:
        emit(f"nothing is logged today in {path}")
    return 0


def _show(line: str, args: argparse.Namespace) -> None:
    entry = _parsed(line)
    if entry is None or LEVELS.index(entry["level"]) < LEVELS.index(args.level):
        return
    emit(line if args.json else _worded(entry))


def _parsed(line: str) -> dict[str, str] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    if not isinstance(entry, dict) or entry.get("level") not in (*LEVELS, "CRITICAL"):
        return None
    level = "ERROR" if entry["level"] == "CRITICAL" else entry["level"]
    return {**{key: str(value) for key, value in entry.items()}, "level": level}


def _worded(entry: dict[str, str]) -> str:
    head = f"{entry.get('at', '')} {entry['level']:<7} {entry.get('area', '')}: "
    error = f" ({entry['error']})" if "error" in entry else ""
    return head + entry.get("text", "") + error


def _follow(folder: Path, args: argparse.Namespace) -> None:
    """New lines until interrupted, into the next day too."""
    from claude_mem_core.worker import logs

    path = logs.log_file(folder)
    place = path.stat().st_size if path.exists() else 0
    while True:
        now = logs.log_file(folder)
        if now != path:
            path, place = now, 0
        place = _new_lines(path, place, args)
        time.sleep(0.3)


def _new_lines(path: Path, place: int, args: argparse.Namespace) -> int:
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(place if place <= size else 0)
            data = file.read()
    except OSError:
        return place
    whole = data[: data.rfind(b"\n") + 1]
    for line in whole.decode("ascii", "replace").splitlines():
        _show(line, args)
    return (place if place <= size else 0) + len(whole)
