"""The state file: how far each transcript has been read, kept over restarts."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

NAME = "transcript-watch-state.json"
HEAD = 4096  # bytes at the start by which a file is known again
MOST = 20_000  # files that are remembered; the oldest are forgotten


@attrs.frozen(kw_only=True)
class Mark:
    """How far one file was read.

    Attributes:
        inode: device and number of the file.
        offset: bytes that were handed in.
        head: digest of the file's first bytes, at most `offset` of them.
        rested: the end of its last turn was handed in as well.
    """

    inode: tuple[int, int]
    offset: int = 0
    head: str = ""
    rested: bool = True


@attrs.define
class State:
    """All marks, by path, and the sources that were looked at before."""

    path: Path
    marks: dict[str, Mark] = attrs.field(factory=dict)
    sources: set[str] = attrs.field(factory=set)

    def save(self) -> None:
        """Write the file whole: the old one, or the new one, is there at any time."""
        marks = dict(list(self.marks.items())[-MOST:])
        value = {
            "version": 1,
            "sources": sorted(self.sources),
            "files": {name: attrs.asdict(mark) for name, mark in marks.items()},
        }
        number, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{NAME}.")
        try:
            with os.fdopen(number, "w", encoding="utf-8") as file:
                json.dump(value, file)
            os.replace(name, self.path)
        except BaseException:
            os.unlink(name)
            raise


def load(folder: Path) -> State:
    """The state in `folder`. A damaged file counts as none: all is read again, and what
    is known already is not kept twice."""
    state = State(folder / NAME)
    try:
        value = json.loads(state.path.read_bytes())
        state.sources = {str(name) for name in value["sources"]}
        state.marks = {str(path): _mark(mark) for path, mark in value["files"].items()}
    except FileNotFoundError:
        pass
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        # From the beginning, not from the end: nothing must be lost.
        state.sources = {"*"}
    return state


def _mark(value: Mapping[str, Any]) -> Mark:
    device, number = value["inode"]
    return Mark(
        inode=(int(device), int(number)), offset=max(0, int(value["offset"])),
        head=str(value["head"]), rested=bool(value["rested"]),
    )  # fmt: skip


def head_of(first: bytes, offset: int) -> str:
    """The digest of a file's first bytes, as far as they had been read."""
    return hashlib.sha256(first[: min(offset, HEAD)]).hexdigest()[:32]
