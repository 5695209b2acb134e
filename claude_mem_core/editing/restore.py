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

import attrs

from claude_mem_core.editing.files import read_config
from claude_mem_core.errors import MemError

INDEX = "index.json"

Edit = Callable[[bytes | None], bytes | None]
Ours = Callable[[bytes], bool]


def entries(data_dir: str) -> list[dict[str, Any]]:
    """What was changed, oldest first; a damaged index counts as an empty one."""
    raw = read_config(os.path.join(data_dir, "backups", INDEX))
    try:
        found = json.loads(raw or b"[]")
    except ValueError:
        return []
    return [e for e in found if isinstance(e, dict)] if isinstance(found, list) else []


def earlier(data_dir: str, path: str, ours: Ours | None = None) -> list[bytes | None]:
    """Contents that a file had before our changes, newest first; None: it did not exist.

    Those in which `ours` finds a part of ours are left out: they are from an upgrade.
    """
    named = [e.get("backup") for e in entries(data_dir) if e.get("path") == path]
    found = [_backup(data_dir, name) for name in reversed(named) if _readable(data_dir, name)]
    return [c for c in found if c is None or ours is None or not ours(c)]


def _readable(data_dir: str, name: object) -> bool:
    if name is None:
        return True
    plain = isinstance(name, str) and os.path.basename(name) == name
    return plain and os.path.isfile(os.path.join(data_dir, "backups", str(name)))


def _backup(data_dir: str, name: object) -> bytes | None:
    return None if name is None else read_config(os.path.join(data_dir, "backups", str(name)))


@attrs.frozen
class Before:
    """What stood in a file before us.

    Attributes:
        proven: doing the edit again on `content` gives the present file.
        made: the file is known to be one that we made.
        content: None for no file; unproven, the newest content known, None for none.
    """

    proven: bool
    made: bool
    content: bytes | None


def restored(data_dir: str, path: str, now: bytes, edit: Edit, ours: Ours) -> Before:
    """Find out what stood in a file before us.

    Args:
        now: its present bytes.
        edit: the edit that was done, to be tried on each earlier content.
        ours: whether a content holds a part of ours.
    """
    known = earlier(data_dir, path, ours)
    for content in [*known, None]:
        if _again(edit, content) == now:
            return Before(True, content is None, content)
    return Before(False, bool(known) and known[0] is None, known[0] if known else None)


def _again(edit: Edit, content: bytes | None) -> bytes | None:
    try:
        return edit(content)
    except MemError:
        return None
