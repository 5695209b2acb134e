"""Looking into the database without being its writer, for commands beside the worker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import apsw

from claude_mem_core.errors import NotFound, StoreError
from claude_mem_core.store import connect, identity, migrations
from claude_mem_core.store.faults import fault

T = TypeVar("T")


def look(path: Path, fn: Callable[[apsw.Connection], T]) -> T:
    """Run `fn` on one state of the database at `path`; nothing is written.

    Raises:
        NotFound: there is no database yet.
        StoreForeign, StoreDamaged, StoreError: it can't be read; the text says why.
    """
    if not path.exists():
        raise NotFound(f"no database at {path}: nothing was recorded yet")
    try:
        found = identity.check(path, migrations.VERSION)
        if found.version < migrations.VERSION:
            raise StoreError(f"{path} is of an older version; `mem start` brings it up to date")
        return _looked(path, fn)
    except (apsw.Error, OSError) as error:
        raise fault(error, path) from error


def _looked(path: Path, fn: Callable[[apsw.Connection], T]) -> T:
    conn = connect.reader(path)
    try:
        conn.execute("BEGIN")
        return fn(conn)
    finally:
        conn.close(True)
