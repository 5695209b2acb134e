"""Giving back the room that deleted rows have left in the file."""

from __future__ import annotations

from pathlib import Path

import apsw

from claude_mem_core.errors import NotFound
from claude_mem_core.store import connect, fetch, identity, migrations
from claude_mem_core.store.faults import fault

PATIENCE_MS = 30_000


def vacuum(path: Path) -> tuple[int, int]:
    """Rewrite the file without its gaps; its size in bytes before and after.

    The worker may go on meanwhile; its writes wait. Needs as much free room as the file
    is large.

    Raises:
        NotFound: there is no database.
        StoreError: it can't be done; the file is as it was.
    """
    if not path.exists():
        raise NotFound(f"no database at {path}: nothing was recorded yet")
    identity.check(path, migrations.VERSION)
    before = _size(path)
    try:
        _rewrite(path)
    except (apsw.Error, OSError) as error:
        raise fault(error, path) from error
    return before, _size(path)


def _size(path: Path) -> int:
    """With what is not merged yet: a young database lies in its log as good as whole."""
    log = path.with_name(f"{path.name}-wal")
    return path.stat().st_size + (log.stat().st_size if log.exists() else 0)


def _rewrite(path: Path) -> None:
    conn = connect.writer(path)
    try:
        conn.set_busy_timeout(PATIENCE_MS)
        # A copy of the whole file is made on the way: on the disk, not in memory.
        conn.execute("PRAGMA temp_store = FILE; VACUUM")
        fetch.rows(conn, "PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        conn.close()
