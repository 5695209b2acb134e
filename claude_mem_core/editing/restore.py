"""Taking an edit back: to the byte where we can prove what stood there before.

`mem install` keeps, for each file it changes, the bytes before (`<data>/backups`), and
for a file it made, that there were none. A file is given back as it was when doing the
edit again on that earlier content gives exactly the present one; then nobody else wrote
meanwhile. Otherwise the installer takes out its own part alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from claude_mem_core.editing.files import read_config
from claude_mem_core.errors import MemError

INDEX = "index.json"

Edit = Callable[[bytes | None], bytes | None]


def entries(data_dir: str) -> list[dict[str, Any]]:
    """What was changed, oldest first; a damaged index counts as an empty one."""
    raw = read_config(os.path.join(data_dir, "backups", INDEX))
    try:
        found = json.loads(raw or b"[]")
    except ValueError:
        return []
    return [e for e in found if isinstance(e, dict)] if isinstance(found, list) else []


def earlier(data_dir: str, path: str) -> list[bytes | None]:
    """Contents that a file had before our changes, newest first; None: it did not exist."""
    named = [e.get("backup") for e in entries(data_dir) if e.get("path") == path]
    return [_backup(data_dir, name) for name in reversed(named) if _readable(data_dir, name)]


def was_made(data_dir: str, path: str) -> bool:
    """Whether the file is one that we made: there was none before our last change."""
    known = earlier(data_dir, path)
    return bool(known) and known[0] is None


def _readable(data_dir: str, name: object) -> bool:
    if name is None:
        return True
    plain = isinstance(name, str) and os.path.basename(name) == name
    return plain and os.path.isfile(os.path.join(data_dir, "backups", str(name)))


def _backup(data_dir: str, name: object) -> bytes | None:
    return None if name is None else read_config(os.path.join(data_dir, "backups", str(name)))


def restored(data_dir: str, path: str, now: bytes, *edits: Edit) -> tuple[bool, bytes | None]:
    """What stood in a file before us, as (proven, content).

    Args:
        now: its present bytes.
        edits: the edits that may have been done, to be tried on each earlier content.

    Returns:
        `proven` is true when one of `edits` makes `now` of `content`; None for the
        content means that there was no file. Unproven, it is the newest content known.
    """
    known = earlier(data_dir, path)
    for content in [*known, None]:
        if any(_again(edit, content) == now for edit in edits):
            return True, content
    return False, known[0] if known else None


def _again(edit: Edit, content: bytes | None) -> bytes | None:
    try:
        return edit(content)
    except MemError:
        return None
