"""The vectors of a store as a search backend."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import apsw
import attrs

from claude_mem_core.types import DocKind, Embedder, Found, Hit, Query, Values
from claude_mem_search_vector import log, table
from claude_mem_search_vector.filling import IDLE_S, STEP, Filler, Follower
from claude_mem_search_vector.limits import Limits, limits, narrowed
from claude_mem_search_vector.nearest import Asked, nearest
from claude_mem_search_vector.numbers import packed
from claude_mem_search_vector.scan import Scan
from claude_mem_search_vector.texts import number_of, record_of
from claude_mem_search_vector.tiers import chosen

METHOD = "vector"
QUIET_S = 20.0  # without a change before the better embedder begins
_NO_LIMITS = Limits("TRUE", ())


class VectorIndex:
    """Answers by meaning with whatever vectors there are; never blocks a write.

    Attributes:
        quiet_s: seconds without a change after which the better embedder may work.
    """

    def __init__(self, store: Any, values: Values) -> None:
        self._store = store
        self._values = values
        self._fillers: list[Filler] = []
        self._follower = Follower(store, None, ())
        self._batch = 4
        self._changed = 0.0
        self.quiet_s = QUIET_S
        self._quick: Filler | None = None

    def use(self, embedders: Sequence[Embedder]) -> None:
        """Choose among what is installed.

        Raises:
            MemError: the setting names an embedder that is not there.
        """
        quick, better = chosen(embedders, self._values)
        made = {
            tier.record.name: Filler(self._store, tier, Scan())
            for tier in (quick, better)
            if tier
        }
        # The better one first: where a record has both vectors, its counts.
        self._fillers = [made[tier.record.name] for tier in (better, quick) if tier]
        follows = made[quick.record.name] if quick else None
        self._follower = Follower(self._store, follows, self._fillers)
        self._quick = follows

    # Filling -----------------------------------------------------------------

    def feed(self, limit: int) -> int:
        """Take up to `limit` changes, then missing records; return how many were taken."""
        if not self._fillers:
            return 0
        self._follower.begin()
        if self._quick:
            self._quick.prepare()
        done = 0
        while done < limit:
            most = min(STEP, limit - done)
            taken = self._follower.step(most)
            if not taken and self._quick:
                taken = self._quick.fill(most)
            if not taken:
                break
            done += taken
        if done:
            self._changed = time.monotonic()
        else:
            for filler in self._fillers:
                filler.scan.forget(unused_only=True)
                filler.tier.rest()
        return done

    def idle(self) -> int:
        """Let the better embedder make some of what it has not made yet."""
        better = next((one for one in self._fillers if one is not self._quick), None)
        if better is None or time.monotonic() - self._changed < self.quiet_s:
            return 0
        if not self._store.read(log.records):
            return 0
        began = time.monotonic()
        better.prepare()
        done = better.fill(self._batch)
        took = time.monotonic() - began
        if done:
            self._batch = max(1, min(256, int(self._batch * IDLE_S / max(took, 0.01)) or 1))
        else:
            better.tier.rest()
            self._drop_unused()
        return done

    def _drop_unused(self) -> None:
        """Forget models that are no longer chosen, once the chosen ones are whole."""
        used = {one.table for one in self._fillers}
        old = [one for one in self._store.read(table.known) if one not in used]
        for one in old:
            self._store.write(lambda conn, o=one: table.forgotten(conn, o)).result()

    # Asking ------------------------------------------------------------------

    def search(self, query: Query) -> Found:
        """The records nearest in meaning."""
        asked = self._asked(query.text)
        scores = self._store.read(lambda conn: self._best(conn, query, asked))
        ranked = sorted(scores, key=lambda number: (-scores[number], -number))
        page = ranked[query.offset : query.offset + query.limit]
        hits = (Hit(kind=kind, id=number, score=round(scores[key], 6), complete=False)
                for key in page for kind, number in (record_of(key),))  # fmt: skip
        more = len(ranked) > query.offset + query.limit
        return Found(hits=tuple(hits), method=METHOD, coverage=self.coverage(), more=more)

    def scores(
        self, query: Query, records: Sequence[tuple[DocKind, int]]
    ) -> Mapping[tuple[DocKind, int], float]:
        """How near given records are, on the scale of the hits."""
        asked = self._asked(query.text)
        numbers = [number_of(*key) for key in records]
        found: dict[int, float] = {}
        for one in reversed(asked):

            def read(conn: apsw.Connection, one: Asked = one) -> dict[int, float]:
                where = one.table.among(numbers, _NO_LIMITS)
                return one.table.nearest(conn, one.vector, where, len(numbers))

            found.update(one.scaled(self._store.read(read)))
        return {record_of(number): round(score, 6) for number, score in found.items()}

    def close(self) -> None:
        """End what runs beside."""
        for filler in self._fillers:
            filler.tier.close()

    def coverage(self) -> float:
        """Share of the records that have a vector of some chosen model."""
        share: float = self._store.read(self._share)
        return round(share, 4)

    def _share(self, conn: apsw.Connection) -> float:
        self._follower.look(conn)
        return max((one.share(conn) for one in self._fillers), default=0.0)

    def _asked(self, text: str) -> list[Asked]:
        """The query in the vectors of the models that are to be asked, best model first."""
        asked: list[Asked] = []
        for filler, found, share in self._store.read(self._there):
            vector = filler.tier.ask(text)
            small = packed(vector) if vector is not None else None
            if small is not None and len(small) == found.dimensions:
                asked.append(Asked(found, filler.scan, small))
                if share == 1:
                    break
        return self._measured(asked)

    def _there(self, conn: apsw.Connection) -> list[tuple[Filler, table.VectorTable, float]]:
        """The embedders that have vectors here, and what share of the records has one."""
        self._follower.look(conn)
        pairs = [(one, one.find(conn)) for one in self._fillers]
        return [(one, found, one.share(conn)) for one, found in pairs if found is not None]

    def _measured(self, asked: list[Asked]) -> list[Asked]:
        """With two models, each measured by how near records are at random."""
        if len(asked) < 2:
            return asked
        return [attrs.evolve(one, **self._store.read(one.spread)) for one in asked]

    def _best(
        self, conn: apsw.Connection, query: Query, asked: Sequence[Asked]
    ) -> dict[int, float]:
        where = limits(query)
        found: dict[int, float] = {}
        for one in reversed(asked):
            found.update(one.scaled(nearest(conn, one, query, where)))
        if query.concepts or query.files:
            kept = narrowed(conn, query, list(found))
            found = {number: score for number, score in found.items() if number in kept}
        return found
