"""Colours for a context that a person looks at in a terminal. The text is harmless before."""

from __future__ import annotations

import re

_DIM, _BOLD, _CYAN, _OFF = "\x1b[2m", "\x1b[1m", "\x1b[36m", "\x1b[0m"
_ROW = re.compile(r"(?P<key>S?\d+) (?P<rest>.*)")


def painted(text: str) -> str:
    """`text` with headings bold, ids dim and the frame dim."""
    return "\n".join(map(_line, text.splitlines()))


def _line(line: str) -> str:
    if line.startswith("#"):
        return f"{_BOLD}{_CYAN}{line}{_OFF}"
    if line.startswith(("<", "|", "Legend", "Format", "Details", "Mode")):
        return f"{_DIM}{line}{_OFF}"
    if line.startswith("**"):
        return f"{_BOLD}{line.strip('*')}{_OFF}"
    match = _ROW.fullmatch(line)
    return f"{_DIM}{match['key']}{_OFF} {match['rest']}" if match else line
