"""Workers of another version that could not be stopped; asked once, not at each command."""

from __future__ import annotations

import json
from pathlib import Path

from claude_mem_core import __version__
from claude_mem_core.errors import MemError
from claude_mem_core.files import write_private
from claude_mem_core.paths import Paths
from claude_mem_core.worker.identity import small_file


def _file(paths: Paths) -> Path:
    return paths.data / "worker-recycle.json"


def _pair(version: str, start_id: str) -> dict[str, str]:
    return {"from": version, "start_id": start_id, "to": __version__}


def failed_before(paths: Paths, version: str, start_id: str) -> bool:
    """Whether this very worker has refused to make room for this version before."""
    try:
        return bool(json.loads(small_file(_file(paths))) == _pair(version, start_id))
    except (OSError, ValueError):
        return False


def note_failure(paths: Paths, version: str, start_id: str) -> None:
    """Remember it, if anything can be written."""
    try:
        write_private(_file(paths), json.dumps(_pair(version, start_id)).encode())
    except (OSError, MemError):
        return
