"""Small facts of the installation."""

from __future__ import annotations

import apsw


def get(conn: apsw.Connection, key: str) -> str | None:
    """The value of `key`; None when it was never set."""
    for (value,) in conn.execute("SELECT v FROM meta WHERE k = ?", (key,)):
        return str(value)
    return None


def put(conn: apsw.Connection, key: str, value: str) -> None:
    """Set `key`."""
    conn.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def fence_id(conn: apsw.Connection) -> str:
    """The 12 hex digits that mark our own blocks; made once, with the database."""
    return get(conn, "fence_id") or ""
