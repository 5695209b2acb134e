"""Folders for work in hand, which may hold text that was not cleaned yet.

A folder is locked while its owner lives. What a killed owner leaves is removed by the
next sweep: by age alone, a long import would lose its own folder.
"""

from __future__ import annotations

import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from claude_mem_core.errors import StoreError
from claude_mem_core.files.private import locked

HELD = "held"
IMPORT = ".import-"


@contextmanager
def work_folder(parent: Path, prefix: str = IMPORT) -> Iterator[Path]:
    """A private folder below `parent`, gone afterwards."""
    sweep_folders(parent, prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    try:
        with locked(folder / HELD):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep_folders(parent: Path, prefix: str = IMPORT, older_than_s: float = 60.0) -> int:
    """Remove folders whose owner was killed; return how many.

    The age spares one that was made this moment and is not locked yet.
    """
    return sum(_swept(left, older_than_s) for left in parent.glob(f"{prefix}*"))


def _swept(left: Path, older_than_s: float) -> bool:
    with suppress(OSError, StoreError):
        found = left.lstat()
        if stat.S_ISDIR(found.st_mode) and time.time() - found.st_mtime > older_than_s:
            with locked(left / HELD, 0):
                shutil.rmtree(left)
            return True
    return False
