"""Small facts of the installation."""

from __future__ import annotations

import apsw

from claude_mem_core.store import fetch


def get(conn: apsw.Connection, key: str) -> str | None:
    """The value of `key`; None when it was never set."""
    value = fetch.value(conn, "SELECT v FROM meta WHERE k = ?", key)
    return None if value is None else str(value)


def put(conn: apsw.Connection, key: str, value: str) -> None:
    """Set `key`."""
    conn.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def fence_id(conn: apsw.Connection) -> str:
    """The 12 hex digits that mark our own blocks; made once, with the database."""
    return get(conn, "fence_id") or ""
