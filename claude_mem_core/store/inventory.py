"""What lies in the database and beside it, in numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from claude_mem_core.store import fetch
from claude_mem_core.store.snapshot import snapshots

TABLES = """
  SELECT name FROM pragma_table_list
  WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
  ORDER BY name
"""
# An index counts for its table; the shadow tables of the word index count for it.
BYTES = """
  SELECT coalesce(s.tbl_name, d.name), sum(d.pgsize) FROM dbstat d
  LEFT JOIN sqlite_schema s ON s.name = d.name WHERE d.aggregate = TRUE GROUP BY 1
"""
SPAN = "SELECT min(created_at_epoch), max(created_at_epoch) FROM observations"


def inventory(conn: apsw.Connection) -> dict[str, Any]:
    """Layout, sizes in bytes, rows of each table, times of the oldest and newest memory."""
    oldest, newest = fetch.row(conn, SPAN) or (None, None)
    sizes: dict[str, int] = dict(fetch.rows(conn, BYTES))
    return {
        "application_id": int(conn.pragma("application_id")),
        "version": int(conn.pragma("user_version")),
        "journal_mode": str(conn.pragma("journal_mode")),
        "page_size": int(conn.pragma("page_size")),
        "pages": int(conn.pragma("page_count")),
        "free_pages": int(conn.pragma("freelist_count")),
        "oldest_ms": oldest,
        "newest_ms": newest,
        "tables": {name: _table(conn, name, sizes) for (name,) in fetch.rows(conn, TABLES)},
        "index_bytes": sum(n for name, n in sizes.items() if name.startswith("memory_")),
    }


def _table(conn: apsw.Connection, name: str, sizes: dict[str, int]) -> dict[str, int]:
    rows = fetch.value(conn, f'SELECT count(*) FROM "{name}"')
    return {"rows": int(rows), "bytes": sizes.get(name, 0)}


def beside(path: Path) -> dict[str, Any]:
    """The files of the database, its snapshots, and damaged files kept by repairs."""
    return {
        "path": str(path),
        "size": _size(path),
        "wal": _size(path.with_name(path.name + "-wal")),
        "snapshots": [_file(p) for p in snapshots(path.parent / "snapshots", path.stem)],
        "kept": [_file(p) for p in _kept(path)],
    }


def _kept(path: Path) -> Iterator[Path]:
    yield from sorted(path.parent.glob(f"{path.name}.damaged-*"))
    yield from sorted(path.parent.glob(f"{path.name}*.left"))


def _file(path: Path) -> dict[str, Any]:
    return {"path": str(path), "size": _size(path)}


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0
