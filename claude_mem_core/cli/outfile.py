"""A file for the user, in a place of the user's choice: whole, private, never half there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from claude_mem_core.errors import MemError, UsageError


@contextmanager
def new_file(path: Path, *, force: bool) -> Iterator[IO[bytes]]:
    """A file that appears at `path` when all was written; nobody else can read it.

    Raises:
        UsageError: the name is taken, or its folder is not there.
        MemError: it can't be written.
    """
    if os.path.lexists(path) and not force:
        raise UsageError(f"{path} exists; --force replaces it")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent}")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    except OSError as error:
        raise MemError(f"{path} can't be written: {error.strerror}") from error
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except OSError as error:
        raise MemError(f"{path} can't be written: {error.strerror or error}") from error
    finally:
        Path(name).unlink(missing_ok=True)
