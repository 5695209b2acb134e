"""The system's errors in our words: what is wrong with a path, and what to do."""

from __future__ import annotations

import errno
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from claude_mem_core.errors import StoreError


@contextmanager
def explained(path: Path, *, may_miss: bool = False) -> Iterator[None]:
    """Turn the system's errors about `path` into ours.

    With `may_miss` a FileNotFoundError stays what it is.
    """
    try:
        yield
    except OSError as error:
        if may_miss and isinstance(error, FileNotFoundError):
            raise
        raise StoreError(
            f"{path} can't be used: {reason(error)}{_remedy(path, error)}"
        ) from None


def reason(error: Exception) -> str:
    if isinstance(error, OSError):
        if error.errno == errno.ELOOP:
            return "a link stands there"
        return error.strerror or type(error).__name__
    return str(error)


def _remedy(path: Path, error: OSError) -> str:
    place = shlex.quote(str(path))
    folder = shlex.quote(str(path.parent))
    remedies = {
        errno.ELOOP: f". Remove it: rm {place}",
        errno.ENOSPC: f". Make room: df -h {folder}",
        errno.EDQUOT: f". Make room: df -h {folder}",
        errno.EACCES: f". See who may: ls -ld {folder} {place}",
        errno.EPERM: f". See who may: ls -ld {folder} {place}",
        errno.ENOENT: f". Make the folder: mkdir -p -m 700 {folder}",
        errno.EROFS: ". Choose another place: export CLAUDE_MEM_DATA_DIR=$HOME/.claude-mem",
        errno.ENOTDIR: f". A file stands where a folder is needed: ls -ld {folder} {place}",
    }
    return remedies.get(error.errno or 0, "")
