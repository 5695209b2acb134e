"""Search over every index that plugins offer, and the records that were found."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

import apsw
import attrs

from claude_mem_core.plugins.calls import call_sync
from claude_mem_core.recall import fusion, question
from claude_mem_core.recall.fusion import Scores, key_of
from claude_mem_core.recall.records import Record, kind_of, load
from claude_mem_core.recall.records import key_of as key_text
from claude_mem_core.settings import SettingsSource
from claude_mem_core.store import Store, correct, projects
from claude_mem_core.store.text import maybe
from claude_mem_core.types import (
    DocKind,
    Found,
    Hit,
    Query,
    ScoresRecords,
    SearchIndex,
    TellsCoverage,
)

_KEPT = 200  # hits of each backend that are merged
_DAY_MS = 86_400_000


class Indexes(Protocol):
    """The opened search backends by name; the worker's indexer is one."""

    @property
    def backends(self) -> Mapping[str, SearchIndex]: ...
    @property
    def exact(self) -> Collection[str]: ...


class Services(Protocol):
    """What a search needs of the running worker."""

    @property
    def store(self) -> Store: ...
    @property
    def indexer(self) -> Indexes: ...
    @property
    def settings(self) -> SettingsSource: ...


@attrs.frozen(kw_only=True)
class SearchAnswer:
    """What a search found.

    Attributes:
        records: best first, or by date when that was asked for.
        partial: keys of the records that hold only some of the words, or none.
        methods: the backends that answered.
        failed: those that did not, with the reason.
        covered: share of the store that each backend covers, whether it was asked or not.
        more: whether further records match.
    """

    records: tuple[Record, ...] = ()
    partial: frozenset[str] = frozenset()
    methods: tuple[str, ...] = ()
    failed: Mapping[str, str] = attrs.field(factory=dict)
    covered: Mapping[str, float] = attrs.field(factory=dict)
    more: bool = False

    @property
    def coverage(self) -> float:
        """What the least complete backend covers; 0 when there is none."""
        return min(self.covered.values(), default=0.0)


def search(services: Services, query: Query) -> SearchAnswer:
    """Ask the backends, merge what they found, load the records. Call it in a thread."""
    asked = _Asked(services.indexer)
    query = _placed(services.store, query)
    hits, more = asked.page(services, query)
    records = services.store.read(lambda conn: _load(conn, hits))
    partial = {key_of(hit) for hit in hits if not hit.complete}
    return SearchAnswer(
        records=tuple(record for _, record in records),
        partial=frozenset(key_text(r) for key, r in records if key in partial),
        methods=tuple(asked.found),
        failed=asked.failed,
        covered=dict(asked.covered()),
        more=more,
    )


def _placed(store: Store, query: Query) -> Query:
    """`query` with the ids of its projects."""
    given = (query.project, *query.projects)
    names = [name for name in map(maybe, given) if name is not None]
    if not names:
        return query

    def read(conn: apsw.Connection) -> tuple[int, ...]:
        return tuple(dict.fromkeys(n for name in names for n in projects.find(conn, name)))

    return attrs.evolve(query, project_ids=store.read(read))


class _Asked:
    """The backends, and what came of asking them."""

    def __init__(self, indexes: Indexes) -> None:
        self._backends = indexes.backends
        self._exact = [name for name in indexes.backends if name in indexes.exact]
        self._others = [name for name in indexes.backends if name not in indexes.exact]
        self.found: dict[str, Found] = {}
        self.failed: dict[str, str] = {}

    def page(self, services: Services, query: Query) -> tuple[Sequence[Hit], bool]:
        """The hits of one page and whether there are more."""
        meaning = question.by_meaning(query)
        wide = len(self._exact) != 1 or meaning
        worded = self._worded(_widened(query) if wide else query)
        end = query.offset + query.limit
        if not wide:
            return worded, any(found.more for found in self.found.values())
        if meaning and sum(hit.complete for hit in worded) <= end:
            others = self._by_meaning(_recent(_widened(query), services.settings), worded)
            worded = services.store.read(
                lambda conn: fusion.fused(conn, query, worded, others, end + 1)
            )
        more = len(worded) > end or any(found.more for found in self.found.values())
        return worded[query.offset : end], more

    def _worded(self, query: Query) -> Sequence[Hit]:
        """What the exact backends find."""
        answers = [found for name in self._exact if (found := self._ask(name, query))]
        return answers[0].hits if len(answers) == 1 else _by_place(answers)

    def _by_meaning(self, query: Query, worded: Sequence[Hit]) -> list[Scores]:
        """The scores that the other backends give, for the records found by words too."""
        scores: list[Scores] = []
        for name in self._others:
            found = self._ask(name, query)
            if found is not None and (given := self._scores(name, query, found, worded)):
                scores.append(given)
        return scores

    def _scores(
        self, name: str, query: Query, found: Found, worded: Sequence[Hit]
    ) -> dict[tuple[DocKind, int], float]:
        scores = fusion.found_scores(found)
        backend = self._backends[name]
        unknown = [key for hit in worded if (key := key_of(hit)) not in scores]
        if isinstance(backend, ScoresRecords) and unknown:
            outcome = call_sync(name, backend.scores, query, unknown)
            if outcome.error is None:
                scores.update(outcome.value)
            else:
                self.failed[name] = type(outcome.error).__name__
        return scores

    def _ask(self, name: str, query: Query) -> Found | None:
        outcome = call_sync(name, self._backends[name].search, query)
        if outcome.error is None and isinstance(outcome.value, Found):
            self.found[name] = outcome.value
            return outcome.value
        self.failed[name] = type(outcome.error).__name__ if outcome.error else "wrong answer"
        return None

    def covered(self) -> Iterator[tuple[str, float]]:
        """The share of the store that each backend covers, as far as it is known."""
        for name, backend in self._backends.items():
            if name in self.found:
                yield name, self.found[name].coverage
            elif isinstance(backend, TellsCoverage):
                outcome = call_sync(name, backend.coverage)
                if outcome.error is None:
                    yield name, outcome.value


def _widened(query: Query) -> Query:
    """To merge lists, each backend gives all of its best."""
    return attrs.evolve(query, offset=0, limit=max(_KEPT, query.offset + query.limit + 1))


def _recent(query: Query, settings: SettingsSource) -> Query:
    """`query` within the days that a search by meaning looks back, whole days (UTC)."""
    days = settings.current()["CLAUDE_MEM_SEARCH_RECENCY_DAYS"]
    if not days or query.since_ms is not None or query.until_ms is not None:
        return query
    today = int(time.time() * 1000) // _DAY_MS
    return attrs.evolve(query, since_ms=max(0, today - days) * _DAY_MS)


def _by_place(answers: Sequence[Found]) -> list[Hit]:
    """One list of several: records that hold every word first, then by their places.

    A place counts as 1 at the top of a list and less further down, so that lists whose
    scores can't be compared weigh the same.
    """
    worth: dict[tuple[DocKind, int], float] = {}
    best: dict[tuple[DocKind, int], Hit] = {}
    for answer in answers:
        for place, hit in enumerate(answer.hits):
            key = key_of(hit)
            worth[key] = worth.get(key, 0.0) + 1 / (10 + place)
            if key not in best or hit.complete:
                best[key] = hit
    ranked = sorted(best, key=lambda key: (not best[key].complete, -worth[key], key))
    return [best[key] for key in ranked]


def _load(
    conn: apsw.Connection, hits: Sequence[Hit]
) -> list[tuple[tuple[DocKind, int], Record]]:
    keys = [key_of(hit) for hit in hits]
    there = {(kind_of(record), record.id): record for record in load(conn, keys)}
    wrong = _wrong(conn, keys)
    return [(key, there[key]) for key in keys if key in there and key not in wrong]


def _wrong(conn: apsw.Connection, keys: Sequence[tuple[DocKind, int]]) -> set[Any]:
    """What the user marked wrong is never found again."""
    return {
        (kind, number)
        for kind in (DocKind.OBSERVATION, DocKind.SUMMARY)
        for number in correct.wrong_among(conn, kind, [n for k, n in keys if k is kind])
    }
