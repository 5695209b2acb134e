"""What model calls cost: a small file beside the database, one row for each day, provider,
model and session. It holds numbers only, no text of anybody.

A call is entered before it is sent, with an estimate, and corrected when it is over: one
that a crash cuts off stays counted. What can't be entered is not sent.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import attrs

from claude_mem_core.errors import StoreError

TABLE = """
  CREATE TABLE IF NOT EXISTS usage (
    day TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL,
    session_db_id INTEGER NOT NULL, project_id INTEGER NOT NULL,
    calls INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0, cost_usd REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (day, session_db_id, provider, model)
  ) WITHOUT ROWID
"""
ADD = """
  INSERT INTO usage VALUES (:day, :provider, :model, :session, :project,
    :calls, :failed, :input, :output, :cached, :cost)
  ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, failed = failed + excluded.failed,
    input_tokens = input_tokens + excluded.input_tokens,
    output_tokens = output_tokens + excluded.output_tokens,
    cached_tokens = cached_tokens + excluded.cached_tokens, cost_usd = cost_usd + excluded.cost_usd,
    project_id = max(project_id, excluded.project_id)
"""
DAY = "SELECT total(input_tokens + output_tokens), total(calls) FROM usage WHERE day = ?"
SUMS = (
    "sum(calls), sum(failed), sum(input_tokens), sum(output_tokens), sum(cached_tokens),"
    " sum(cost_usd)"
)
GROUPS = {
    "day": "day", "session": "session_db_id", "project": "project_id", "provider": "provider",
    "model": "model",
}  # fmt: skip
LONGEST = 500


@attrs.frozen(kw_only=True)
class Account:
    """Whose cost it is."""

    day: str
    provider: str
    model: str = ""
    session: int = 0
    project: int = 0


@attrs.frozen(kw_only=True)
class Cost:
    """What is added to an account; corrections may be negative."""

    calls: int = 0
    failed: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    cost: float = 0.0


@attrs.frozen
class Spent:
    """Tokens and calls of a day."""

    tokens: int = 0
    calls: int = 0


@attrs.frozen
class Sum:
    """What one day, session, project, provider or model cost."""

    name: str | int
    calls: int
    failed: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: float


class Ledger:
    """The account of one data directory. Its calls block; keep them off the event loop."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._conn: apsw.Connection | None = None
        self._lock = threading.Lock()

    def add(self, account: Account, cost: Cost) -> None:
        """Enter a cost.

        Raises:
            StoreError: it can't be written.
        """
        values = {**attrs.asdict(account), **attrs.asdict(cost)}
        with self._open() as conn:
            conn.execute(ADD, values)

    def spent(self, day: str, session: int | None = None) -> Spent:
        """What was used on a day, in all or by one session.

        Raises:
            StoreError: it can't be read.
        """
        sql, values = DAY, (day,)
        if session is not None:
            sql, values = DAY + " AND session_db_id = ?", (day, session)  # type: ignore[assignment]
        with self._open() as conn:
            row: Any = conn.execute(sql, values).fetchone()
        return Spent(int(row[0]), int(row[1]))

    def sums(self, since: str, by: str) -> list[Sum]:
        """Costs from a day on, one for each day, session, project, provider or model.

        Raises:
            StoreError: it can't be read.
        """
        column = GROUPS[by]
        order = "1 DESC" if by == "day" else "4 + 5 DESC"
        sql = (
            f"SELECT {column}, {SUMS} FROM usage WHERE day >= ? GROUP BY 1"
            f" ORDER BY {order.replace('4 + 5', 'sum(input_tokens + output_tokens)')} LIMIT {LONGEST}"
        )
        with self._open() as conn:
            return [Sum(*row) for row in conn.execute(sql, (since,))]

    def close(self) -> None:
        """Close the file; safe to call twice."""
        with self._lock:
            if self._conn is not None:
                self._conn.close()
                self._conn = None

    @contextmanager
    def _open(self) -> Iterator[apsw.Connection]:
        with self._lock:
            try:
                if self._conn is None:
                    self._conn = _opened(self._path)
                yield self._conn
            except (apsw.Error, OSError) as error:
                text = f"{self._path}: the account of costs can't be used ({error})"
                raise StoreError(f"{text}; move the file away: a new one is made") from None


def _opened(path: Path) -> apsw.Connection:
    if not path.exists():
        path.touch(0o600)
    conn = apsw.Connection(str(path))
    try:
        conn.setbusytimeout(5_000)
        conn.pragma("journal_mode", "wal")
        conn.pragma("synchronous", "full")
        conn.execute(TABLE)
    except BaseException:
        conn.close()
        raise
    return conn
