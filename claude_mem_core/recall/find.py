"""One keyword search on one connection: steps, windows, order, page."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import apsw
import attrs

from claude_mem_core.recall import plain, words
from claude_mem_core.recall.counts import Counts
from claude_mem_core.recall.documents import KINDS, bounds, record_of
from claude_mem_core.recall.filters import Nothing, filters
from claude_mem_core.recall.scoring import WINDOW, Scored, rows_of, window
from claude_mem_core.recall.tiers import Match, Tier, Tiers
from claude_mem_core.recall.units import quoted
from claude_mem_core.store import feedback, fetch
from claude_mem_core.store.text import maybe, safe
from claude_mem_core.types import DocKind, Found, Hit, Query

_SUPERSEDED = quoted(words.scope("s", 1))
_CHECKED = 50  # best hits that are looked at for the words exactly as typed
_READ = 500  # texts of prompts in memory at once
_TYPED_CHARS = 4_000


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


def _hits(page: Sequence[Scored]) -> list[Hit]:
    """Hits whose scores never rise: one that was put ahead counts as the best behind it."""
    highest = 0.0
    hits: list[Hit] = []
    for scored in reversed(page):
        highest = max(highest, scored.score)
        kind, record_id = record_of(scored.rowid)
        score = round(highest, 4)
        hits.append(Hit(kind=kind, id=record_id, score=score, complete=scored.complete))
    return hits[::-1]


class _Search:
    def __init__(self, conn: apsw.Connection, query: Query, limits: Sequence[str]) -> None:
        self._conn = conn
        self._query = query
        self._limits = limits
        self._kinds = [kind for kind in KINDS if kind in query.kinds]
        self._dated = query.order in {"date_desc", "date_asc"}
        self._oldest = query.order == "date_asc"
        self._typed = Typed.of(query.text)
        self._apart: list[Scored] = []
        self._any_superseded: bool | None = None
        self._said = feedback.every(conn)

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
        if not self._query.match_all:
            found.update((row.rowid, row) for row in self._apart if row.rowid not in found)
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
        match = self._limited(Match("", ())).text
        size = max(_CHECKED, 2 * wanted)
        rows = [Scored(i, 0.0, complete=True) for i in self._all(match, size)]
        return plain.by_date(self._conn, self._within(rows), oldest=self._oldest)

    def _all(self, match: str, size: int) -> Iterator[int]:
        """The newest (or oldest) matching rows of every kind."""
        for kind in self._kinds:
            yield from rows_of(self._conn, kind, match, size, oldest=self._oldest)

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

    def _tier(self, tier: Tier, wanted: int, known: Collection[int]) -> list[Scored]:
        """What a step adds to the records that are `known`."""
        match = self._limited(tier.match)
        if self._dated:
            size = max(WINDOW, wanted + len(known))
            rows = [Scored(i, 0.0, tier.complete) for i in self._all(match.text, size)]
            return self._within(self._prompts(rows))
        ranked: list[Scored] = []
        open_ends: list[tuple[DocKind, str, int]] = []
        for kind in self._kinds:
            got = window(
                self._conn, kind, match.text, match.weights, wanted + len(known) + _CHECKED,
                size=WINDOW, behind=self._superseded(kind, match.text),
                complete=tier.complete,
            )  # fmt: skip
            ranked += (row for row in got.best if row.rowid not in known)
            if got.full and tier.complete:
                open_ends.append((kind, match.text, got.last))
        if tier.complete:
            ranked = self._prompts(ranked)
        ranked = self._ordered(self._valued(self._within(ranked)))
        return ranked if len(ranked) >= wanted else [*ranked, *self._older(open_ends, wanted)]

    def _prompts(self, rows: list[Scored]) -> list[Scored]:
        """Rows without the prompts that do not hold the query as one piece of text.

        Those are set apart: they count as partial matches.
        """
        first = bounds(DocKind.PROMPT)[0]
        prompts = [row.rowid for row in rows if row.rowid >= first]
        if not prompts or not self._typed.several:
            return rows
        whole: set[int] = set()
        for start in range(0, len(prompts), _READ):
            whole |= self._typed.whole_in(plain.texts(self._conn, prompts[start : start + _READ]))
        apart = [row for row in rows if row.rowid >= first and row.rowid not in whole]
        self._apart += [attrs.evolve(row, complete=False) for row in apart]
        gone = {row.rowid for row in apart}
        return [row for row in rows if row.rowid not in gone]

    def _older(self, ends: Sequence[tuple[DocKind, str, int]], wanted: int) -> Iterator[Scored]:
        """What matched before the window: newest first, not ranked."""
        sql = (
            "SELECT rowid FROM memory_index WHERE memory_index MATCH ?"
            " AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?"
        )
        for kind, match, last in ends:
            first = bounds(kind)[0]
            rows = fetch.rows(self._conn, sql, match, first, last - 1, wanted)
            found = [Scored(rowid, 0.0, complete=True) for (rowid,) in rows]
            yield from self._within(self._prompts(found))

    def _superseded(self, kind: DocKind, match: str) -> frozenset[int]:
        """Rows that match, but that a later memory took the place of."""
        if kind is DocKind.PROMPT or not self._some_superseded():
            return frozenset()
        return frozenset(rows_of(self._conn, kind, f"{_SUPERSEDED} AND ({match})", WINDOW))

    def _some_superseded(self) -> bool:
        if self._any_superseded is None:
            sql = "SELECT 1 FROM memory_index WHERE memory_index MATCH ? LIMIT 1"
            self._any_superseded = fetch.value(self._conn, sql, _SUPERSEDED) is not None
        return self._any_superseded

    def _valued(self, rows: list[Scored]) -> list[Scored]:
        """Rows with what people say of them: useful ones gain, outdated ones stand behind."""
        return [self._worth(row) for row in rows] if self._said else rows

    def _worth(self, row: Scored) -> Scored:
        kind, number = record_of(row.rowid)
        said = self._said.get(number) if kind is DocKind.OBSERVATION else None
        if said is None:
            return row
        behind = row.behind or said.outdated
        return attrs.evolve(row, score=row.score * said.factor, behind=behind)

    def _ordered(self, rows: list[Scored]) -> list[Scored]:
        """Best first; of the best, those that hold the words exactly as typed go ahead."""
        rows.sort(key=lambda row: (row.behind, -row.score, -row.rowid))
        if len(rows) < 2 or not (self._typed.several or self._typed.signed):
            return rows
        best = rows[:_CHECKED]
        texts = plain.texts(self._conn, [row.rowid for row in best])
        whole, exact = self._typed.whole_in(texts), self._typed.exact_in(texts)
        best.sort(key=lambda r: (r.behind, r.rowid not in whole, r.rowid not in exact))
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


@attrs.frozen
class Typed:
    """A query as it was typed, to compare with texts.

    Attributes:
        whole: all of it, in one spelling.
        signed: its words with signs that the index does not keep.
        several: whether it has more than one word.
    """

    whole: str
    signed: tuple[str, ...]
    several: bool

    @classmethod
    def of(cls, text: str) -> Typed:
        parts = words.normal(text[:_TYPED_CHARS]).casefold().split()
        bare = [part.strip("\"'") for part in parts]
        signed = [part for part in bare if part and not part.isalnum()]
        return cls(" ".join(parts), tuple(signed[:8]), len(parts) > 1)

    def whole_in(self, texts: Mapping[int, str]) -> set[int]:
        """Those whose text holds the query as one piece."""
        return {rowid for rowid, text in texts.items() if self.whole in text}

    def exact_in(self, texts: Mapping[int, str]) -> set[int]:
        """Those whose text holds every word with signs exactly as typed."""
        return {i for i, text in texts.items() if all(word in text for word in self.signed)}
