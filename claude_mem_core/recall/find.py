"""One keyword search on one connection: steps, windows, order, page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import apsw
import attrs

from claude_mem_core.recall import plain, words
from claude_mem_core.recall.counts import Counts
from claude_mem_core.recall.documents import KINDS, bounds, record_of
from claude_mem_core.recall.filters import Nothing, filters
from claude_mem_core.recall.scoring import WINDOW, Scored, window
from claude_mem_core.recall.tiers import Match, Tier, Tiers
from claude_mem_core.recall.units import quoted
from claude_mem_core.store import fetch
from claude_mem_core.store.text import maybe, safe
from claude_mem_core.types import DocKind, Found, Hit, Query

PARTIAL_WINDOW = 5_000
_SUPERSEDED = quoted(words.scope("s", 1))
_CHECKED = 50  # best hits that are looked at for a word exactly as typed


def find(conn: apsw.Connection, query: Query, counts: Counts, coverage: float) -> Found:
    """Answer `query` from the word index.

    Raises:
        apsw.Error: the index is missing or broken.
    """
    query = attrs.evolve(query, text=safe(query.text), project=maybe(query.project))
    try:
        limits = filters(conn, query)
    except Nothing:
        return Found(coverage=coverage)
    search = _Search(conn, query, limits)
    wanted = query.offset + query.limit + 1
    found = search.by_words(Tiers(conn, counts, query.text), wanted)
    page = found[query.offset : query.offset + query.limit]
    return Found(hits=tuple(_hits(page)), coverage=coverage, more=len(found) >= wanted)


def _hits(page: Iterable[Scored]) -> Iterator[Hit]:
    """Hits whose scores never rise: the order is more than the score of one step."""
    lowest = float("inf")
    for scored in page:
        lowest = min(lowest, scored.score)
        kind, record_id = record_of(scored.rowid)
        yield Hit(kind=kind, id=record_id, score=round(lowest, 4), complete=scored.complete)


class _Search:
    def __init__(self, conn: apsw.Connection, query: Query, limits: Sequence[str]) -> None:
        self._conn = conn
        self._query = query
        self._limits = limits
        self._kinds = [kind for kind in KINDS if kind in query.kinds]
        self._dated = query.order in {"date_desc", "date_asc"}
        self._oldest = query.order == "date_asc"

    def by_words(self, tiers: Tiers, wanted: int) -> list[Scored]:
        """Everything up to `wanted` results, best first."""
        if not tiers.units:
            return self._without_words(wanted)
        found: dict[int, Scored] = {}
        for tier in tiers(partial=not self._query.match_all):
            if len(found) >= wanted or (found and self._dated and not tier.complete):
                break
            for scored in self._tier(tier, wanted - len(found), found):
                found.setdefault(scored.rowid, scored)
        if not found and not self._query.text.isascii():
            return self._plain(wanted)
        listed = list(found.values())
        return plain.by_date(self._conn, listed, oldest=self._oldest) if self._dated else listed

    def _without_words(self, wanted: int) -> list[Scored]:
        if self._query.text.strip():
            return self._plain(wanted)
        if not self._limits:
            return plain.newest(self._conn, self._kinds, wanted, oldest=self._oldest)
        return self._filtered(wanted)

    def _filtered(self, wanted: int) -> list[Scored]:
        """Everything within the filters, by date."""
        match = self._limited(Match("", ()))
        size = max(WINDOW, wanted)
        rows = [
            Scored(rowid, 0.0, complete=True)
            for kind in self._kinds
            for rowid in window(
                self._conn, kind, match.text, match.weights, size=size, oldest=self._oldest
            ).rowids
        ]
        return plain.by_date(self._conn, self._within(rows), oldest=self._oldest)

    def _plain(self, wanted: int) -> list[Scored]:
        """The text as it stands, in the newest records: for signs that are no words."""
        rows = plain.holding(self._conn, self._kinds, self._query.text.strip(), wanted)
        if rows and self._limits:
            match = self._limited(Match("", ())).text
            rows = [row for row in rows if self._has(row.rowid, match)]
        return self._within(rows)

    def _has(self, rowid: int, match: str) -> bool:
        sql = "SELECT 1 FROM memory_index WHERE memory_index MATCH ? AND rowid = ?"
        return fetch.value(self._conn, sql, match, rowid) is not None

    def _limited(self, match: Match) -> Match:
        """`match` with the filters; their phrases come after and count nothing."""
        parts = [f"({match.text})"] if match.text else []
        return Match(" AND ".join([*parts, *self._limits]), match.weights)

    def _tier(self, tier: Tier, wanted: int, known: Iterable[int]) -> list[Scored]:
        seen = set(known)
        rows: list[Scored] = []
        open_ends: list[tuple[DocKind, str, int]] = []
        size = WINDOW if tier.complete else PARTIAL_WINDOW
        for kind in self._kinds:
            match = self._limited(tier.of(kind))
            got = window(
                self._conn, kind, match.text, match.weights, size=size, oldest=self._oldest
            )
            behind = self._superseded(kind, match.text, got.last) if got.rowids else set()
            rows += [
                Scored(rowid, score, tier.complete, rowid in behind)
                for rowid, score in zip(got.rowids, got.scores, strict=True)
                if rowid not in seen
            ]
            if got.full and tier.complete and not self._dated:
                open_ends.append((kind, match.text, got.last))
        rows = self._ordered(self._within(rows))
        return rows if len(rows) >= wanted else [*rows, *self._older(open_ends, wanted)]

    def _older(self, ends: Sequence[tuple[DocKind, str, int]], wanted: int) -> Iterator[Scored]:
        """What matched before the window: newest first, not ranked."""
        sql = (
            "SELECT rowid FROM memory_index WHERE memory_index MATCH ?"
            " AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?"
        )
        for kind, match, last in ends:
            first = bounds(kind)[0]
            rows = fetch.rows(self._conn, sql, match, first, last - 1, wanted)
            yield from self._within([Scored(rowid, 0.0, complete=True) for (rowid,) in rows])

    def _superseded(self, kind: DocKind, match: str, last: int) -> set[int]:
        """Rows of a window that a later memory took the place of."""
        if kind is DocKind.PROMPT:
            return set()
        low, high = bounds(kind)
        low, high = (low, last) if self._oldest else (last, high)
        sql = (
            "SELECT rowid FROM memory_index WHERE memory_index MATCH ?"
            " AND rowid BETWEEN ? AND ? LIMIT ?"
        )
        both = f"{_SUPERSEDED} AND ({match})"
        return {row[0] for row in fetch.rows(self._conn, sql, both, low, high, PARTIAL_WINDOW)}

    def _ordered(self, rows: list[Scored]) -> list[Scored]:
        rows.sort(key=lambda row: (row.behind, -row.score, -row.rowid))
        typed = _punctuated(self._query.text)
        if not typed or len(rows) < 2:
            return rows
        best = rows[:_CHECKED]
        exact = plain.holding_all(self._conn, [row.rowid for row in best], typed)
        best.sort(key=lambda row: (row.behind, row.rowid not in exact))
        return [*best, *rows[_CHECKED:]]

    def _within(self, rows: list[Scored]) -> list[Scored]:
        """Rows inside the bounds of time, to the millisecond; tokens know only days."""
        since, until = self._query.since_ms, self._query.until_ms
        if not rows or (since is None and until is None):
            return rows
        times = plain.times(self._conn, [row.rowid for row in rows])
        low = since if since is not None else 0
        high = until if until is not None else 1 << 62
        return [row for row in rows if low <= times.get(row.rowid, -1) <= high]


def _punctuated(text: str) -> list[str]:
    """Words of a query whose signs the index does not keep."""
    found = [word.strip("\"'") for word in words.normal(text[:4000]).casefold().split()]
    return [word for word in found if word and not word.isalnum()][:8]
