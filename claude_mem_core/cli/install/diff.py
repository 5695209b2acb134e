"""Changes as people read them: a unified diff."""

from __future__ import annotations

import difflib

from claude_mem_core.types import FileChange


def unified(change: FileChange) -> str:
    """The diff of one file; a byte order mark and line ends are not shown."""
    before, after = _lines(change.before), _lines(change.after)
    old = change.path if change.before is not None else "/dev/null"
    new = change.path if change.after is not None else "/dev/null"
    return "\n".join(difflib.unified_diff(before, after, old, new, lineterm=""))


def _lines(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []
