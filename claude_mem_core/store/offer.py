"""A claude-mem database that lies in our data directory is offered once, then never again."""

from __future__ import annotations

import apsw

from claude_mem_core.store import meta

NAME = "claude-mem.db"
_KEY = "claude_mem_offered"


def is_open(conn: apsw.Connection) -> bool:
    """Whether nobody has been told of it yet, or has imported it."""
    return meta.get(conn, _KEY) is None


def close(conn: apsw.Connection, now: int) -> None:
    """It was told, or taken."""
    meta.put(conn, _KEY, str(now))
