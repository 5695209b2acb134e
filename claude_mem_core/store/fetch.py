"""Rows of a statement, typed as what they are: anything."""

from __future__ import annotations

from typing import Any

import apsw

Row = tuple[Any, ...]


def rows(conn: apsw.Connection, sql: str, *values: Any) -> list[Row]:
    """All rows; safe to change the table while walking them."""
    return conn.execute(sql, values).fetchall()


def row(conn: apsw.Connection, sql: str, *values: Any) -> Row | None:
    """The first row, or None."""
    found: Row | None = next(conn.execute(sql, values), None)
    return found


def value(conn: apsw.Connection, sql: str, *values: Any) -> Any:
    """The first column of the first row, or None."""
    found = row(conn, sql, *values)
    return None if found is None else found[0]
