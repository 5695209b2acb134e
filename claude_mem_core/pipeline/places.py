"""Which project a directory belongs to, remembered for a few seconds."""

from __future__ import annotations

import time
from pathlib import Path

from claude_mem_core.paths import home_dir
from claude_mem_core.projects import Place, place_of
from claude_mem_core.settings import Settings

KEEP_S = 3.0  # a `git init` or a new marker file is noticed after this long
MOST = 512


class Places:
    """A small cache before `place_of`, which reads the disk."""

    def __init__(self, home: Path | None = None) -> None:
        self._home = str(home or home_dir())
        self._settings: Settings | None = None
        self._known: dict[str, tuple[float, Place]] = {}

    def of(self, cwd: str, settings: Settings) -> Place:
        """The project of `cwd` under these settings."""
        if self._settings is not settings or len(self._known) > MOST:
            self._settings, self._known = settings, {}
        now = time.monotonic()
        found = self._known.get(cwd)
        if found is None or now - found[0] > KEEP_S:
            found = (now, place_of(cwd, settings, self._home))
            self._known[cwd] = found
        return found[1]
