"""Fills the tables of vectors: follows the change log, and makes up what is missing.

What stands in the tables of the memories decides, not what the log says of it. Texts
are read and embedded outside of the writer; a record that changes meanwhile is in the
log once more. The writer only takes the finished vectors, in small transactions.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import apsw

from claude_mem_core.types import DocKind
from claude_mem_search_vector import log, table
from claude_mem_search_vector.scan import Row, Scan
from claude_mem_search_vector.table import VectorTable
from claude_mem_search_vector.texts import KINDS, Text, bounds, texts
from claude_mem_search_vector.tiers import Tier

STEP = 100  # records in one transaction
RECOUNT_S = 30.0
IDLE_S = 0.3  # that one piece of work which can wait should take


class Filler:
    """Keeps the table of one model whole; for the quick one also follows the log."""

    def __init__(self, store: Any, tier: Tier, scan: Scan) -> None:
        self._store = store
        self._tier = tier
        self._scan = scan
        self._table: VectorTable | None = None
        self._gaps: dict[DocKind, int] = {}
        self._have = 0
        self._counted = 0.0

    @property
    def tier(self) -> Tier:
        """The embedder behind it."""
        return self._tier

    @property
    def scan(self) -> Scan:
        """The signs of its table in memory."""
        return self._scan

    @property
    def table(self) -> VectorTable | None:
        """The table, once it is known."""
        return self._table

    def prepare(self) -> VectorTable:
        """The table, made if need be; look for gaps where the numbers do not agree."""
        if self._table is None or not self._store.read(self._is_there):
            model, dimensions = self._tier.model, self._tier.opened().dimensions
            self._table = self._store.write(
                lambda conn: table.made(conn, model, dimensions)
            ).result()
            self._scan.forget()
            self._counted = 0.0
        self._recount(self._table)
        return self._table

    def find(self, conn: apsw.Connection) -> VectorTable | None:
        """The table if it is there; nothing is loaded or made for it."""
        there = table.there(conn)
        if self._table is None:
            name = f"{self._tier.record.name}/"
            fitting = [one for one in there if one.model.startswith(name)]
            self._table = fitting[-1] if fitting else None
        return self._table if self._table in there else None

    def outdated(self) -> None:
        """Another process has changed the table: count anew, and load the signs anew."""
        self._counted = 0.0
        self._scan.forget()

    def _is_there(self, conn: apsw.Connection) -> bool:
        return self._table in table.there(conn)

    def _recount(self, found: VectorTable) -> None:
        if self._counted and time.monotonic() - self._counted < RECOUNT_S:
            return
        have, wanted = self._store.read(lambda conn: (found.count(conn), log.records(conn)))
        if have > wanted:
            self._store.write(found.drop_strangers).result()
        if have != wanted:
            self._gaps = {kind: bounds(kind)[1] for kind in KINDS}
        if have != self._have:
            self._scan.forget()
        self._have, self._counted = have, time.monotonic()

    def share(self, conn: apsw.Connection) -> float:
        """Share of the records that have a vector here."""
        found, wanted = self.find(conn), log.records(conn)
        if found is None:
            return 0.0 if wanted else 1.0
        have = self._have if self._counted else found.count(conn)
        return min(1.0, have / wanted) if wanted else 1.0

    def missing(self, most: int) -> list[int]:
        """Some records without a vector, the newest of a kind first."""
        found = self._table
        while found is not None and self._gaps:
            kind, before = next(iter(self._gaps.items()))
            numbers = self._store.read(
                lambda conn, k=kind, b=before: found.missing(conn, k, b, most)
            )
            if numbers:
                self._gaps[kind] = min(numbers)
                return list(numbers)
            del self._gaps[kind]
        return []

    def embed(self, numbers: Sequence[int]) -> tuple[list[Text], Sequence[Sequence[float]]]:
        """The texts of records that are still there, and their vectors."""
        found: list[Text] = self._store.read(lambda conn: texts(conn, numbers))
        return found, (self._tier.embed([one.text for one in found]) if found else [])

    def took(self, rows: Sequence[Row], dropped: int) -> None:
        """Vectors of changed records were written with the changes."""
        self._scan.change(rows, ())
        self._have += len(rows) - dropped

    def fill(self, most: int) -> int:
        """Make up for some missing vectors; return how many records were looked at."""
        numbers = self.missing(most)
        if numbers:
            self.put(*self.embed(numbers))
        return len(numbers)

    def put(self, found: Sequence[Text], vectors: Sequence[Sequence[float]]) -> None:
        """Keep vectors, in small transactions."""
        target = self._table
        assert target is not None
        for start in range(0, len(found), STEP):
            some, those = found[start : start + STEP], vectors[start : start + STEP]
            rows = self._store.write(
                lambda conn, s=some, t=those: target.put(conn, s, t)
            ).result()
            self._scan.change(rows, ())
            self._have += len(rows)


class Follower:
    """Takes the changes of the log: the quick embedder's vectors, and all that is gone."""

    def __init__(self, store: Any, filler: Filler | None, every: Sequence[Filler]) -> None:
        self._store = store
        self._filler = filler
        self._every = every
        self._place = log.Place()

    def begin(self) -> None:
        """Find the place in the log; has to come before anything is filled."""
        if self._store.read(_astray):
            self._store.write(self._begin).result()
        self._store.read(self.look)

    def look(self, conn: apsw.Connection) -> None:
        """Notice what another process did, such as an import beside the worker."""
        if self._place.passed(conn):
            for filler in self._every:
                filler.outdated()

    def step(self, most: int) -> int:
        """Take up to `most` changes; return how many they were."""
        taken: tuple[int, int, Sequence[int]]
        taken = self._store.read(lambda conn: self._next(conn, most))
        since, upto, numbers = taken
        if upto == since:
            return 0
        found, vectors = self._filler.embed(numbers) if self._filler else ([], [])
        self._place.goes_on(upto)
        rows, dropped = self._store.write(
            lambda conn: self._written(conn, upto, numbers, found, vectors)
        ).result()
        for filler in self._every:
            filler.scan.change((), numbers)
        if self._filler:
            self._filler.took(rows, dropped)
        return upto - since

    def _next(self, conn: apsw.Connection, most: int) -> tuple[int, int, Sequence[int]]:
        since = log.position(conn) or 0
        return since, *log.changes(conn, since, most)

    def _begin(self, conn: apsw.Connection) -> None:
        """Begin at the end of the log; what is older is missing and made up for.

        What was changed in a part of the log that is gone can't be told: all goes.
        """
        since = log.position(conn)
        if since is not None and log.missed(conn, since):
            for known in table.known(conn):
                table.forgotten(conn, known)
            since = None
        if since is None:
            log.set_position(conn, log.newest(conn))

    def _written(
        self, conn: apsw.Connection, upto: int, numbers: Sequence[int],
        found: Sequence[Text], vectors: Sequence[Sequence[float]],
    ) -> tuple[list[Row], int]:  # fmt: skip
        target = self._filler.table if self._filler else None
        dropped = {known: known.drop(conn, numbers) for known in table.there(conn)}
        log.set_position(conn, upto)
        if target is None:
            return [], 0
        return target.put(conn, found, vectors), dropped.get(target, 0)


def _astray(conn: apsw.Connection) -> bool:
    """Whether there is no place yet, or the log after it is no longer whole."""
    since = log.position(conn)
    return since is None or log.missed(conn, since)
