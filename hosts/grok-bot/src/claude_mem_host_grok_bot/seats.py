"""Seats: the agents of a Grok Bot, each with a folder of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs

AGENT = re.compile(r"[A-Za-z0-9_-]{1,128}")
ROOT = "GROK_BOT_AGENT_DATA"
NAME = "zz-claude-mem-inject.md"


@attrs.frozen
class Seat:
    """One agent: its id, and the folder of all agents' data."""

    root: Path
    agent: str

    @property
    def folder(self) -> Path:
        """Its own folder, which is its project too."""
        return self.root / "agents" / self.agent

    @property
    def log(self) -> Path:
        """The folder with the files that it is given as memory."""
        return self.folder / "memory" / "log"


def root_of(env: Mapping[str, str], home: str) -> Path:
    """The folder of the program's data."""
    named = env.get(ROOT, "")
    return Path(named) if os.path.isabs(named) else Path(home) / ".grok-bot"


def seats_of(root: Path) -> Iterator[Seat]:
    """The live seats: those with a profile. Links are passed over."""
    try:
        with os.scandir(root / "agents") as entries:
            found = sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
    except OSError:
        return
    for name in filter(AGENT.fullmatch, found):
        if (root / "agents" / name / "profile.json").is_file():
            yield Seat(root, name)
