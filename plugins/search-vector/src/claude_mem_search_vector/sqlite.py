"""sqlite-vec on the store's connections: each is taught its functions once."""

from __future__ import annotations

from weakref import WeakSet

import apsw

_taught: WeakSet[apsw.Connection] = WeakSet()


def taught(conn: apsw.Connection) -> apsw.Connection:
    """`conn`, able to measure distances between vectors.

    Raises:
        apsw.Error: sqlite-vec can't be loaded here.
    """
    if conn not in _taught:
        import sqlite_vec  # type: ignore[import-untyped]  # it has no types

        conn.enable_load_extension(True)
        try:
            conn.load_extension(sqlite_vec.loadable_path())
        finally:
            conn.enable_load_extension(False)
        _taught.add(conn)
    return conn
