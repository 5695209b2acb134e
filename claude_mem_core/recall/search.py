"""Search over every index that plugins offer, and the records that were found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import apsw
import attrs

from claude_mem_core.plugins.calls import call_sync
from claude_mem_core.recall.records import Record, key_of, kind_of, load
from claude_mem_core.store import Store, correct
from claude_mem_core.types import DocKind, Found, Hit, Query, SearchIndex

_KEPT = 200  # hits of each backend that are merged


class Indexes(Protocol):
    """The opened search backends by name; the worker's indexer is one."""

    @property
    def backends(self) -> Mapping[str, SearchIndex]: ...


class Services(Protocol):
    """What a search needs of the running worker."""

    @property
    def store(self) -> Store: ...
    @property
    def indexer(self) -> Indexes: ...


@attrs.frozen(kw_only=True)
class SearchAnswer:
    """What a search found.

    Attributes:
        records: best first, or by date when that was asked for.
        partial: keys of the records that hold only some of the words.
        methods: the backends that answered.
        failed: those that did not, with the reason.
        coverage: share of the store that the least complete of them covers.
        more: whether further records match.
    """

    records: tuple[Record, ...] = ()
    partial: frozenset[str] = frozenset()
    methods: tuple[str, ...] = ()
    failed: Mapping[str, str] = attrs.field(factory=dict)
    coverage: float = 0.0
    more: bool = False


def search(services: Services, query: Query) -> SearchAnswer:
    """Ask every backend, merge what they found, load the records. Call it in a thread."""
    found: dict[str, Found] = {}
    failed: dict[str, str] = {}
    several = len(services.indexer.backends) > 1
    asked = _widened(query) if several else query
    for name, backend in services.indexer.backends.items():
        outcome = call_sync(name, backend.search, asked)
        if outcome.error is None and isinstance(outcome.value, Found):
            found[name] = outcome.value
        else:
            failed[name] = type(outcome.error).__name__ if outcome.error else "wrong answer"
    hits, more = _page(list(found.values()), query) if several else _only(found)
    records = services.store.read(lambda conn: _load(conn, hits))
    partial = {(hit.kind, hit.id) for hit in hits if not hit.complete}
    return SearchAnswer(
        records=tuple(record for _, record in records),
        partial=frozenset(key_of(r) for key, r in records if key in partial),
        methods=tuple(found),
        failed=failed,
        coverage=min((answer.coverage for answer in found.values()), default=0.0),
        more=more,
    )


def _widened(query: Query) -> Query:
    """To merge lists, each backend gives all of its best."""
    return attrs.evolve(query, offset=0, limit=max(_KEPT, query.offset + query.limit + 1))


def _only(found: Mapping[str, Found]) -> tuple[Sequence[Hit], bool]:
    for answer in found.values():
        return answer.hits, answer.more
    return (), False


def _page(answers: Sequence[Found], query: Query) -> tuple[Sequence[Hit], bool]:
    """One page of several lists: records that hold every word first, then by their places.

    A place counts as 1 at the top of a list and less further down, so that lists whose
    scores can't be compared weigh the same.
    """
    worth: dict[tuple[DocKind, int], float] = {}
    best: dict[tuple[DocKind, int], Hit] = {}
    for answer in answers:
        for place, hit in enumerate(answer.hits):
            key = hit.kind, hit.id
            worth[key] = worth.get(key, 0.0) + 1 / (10 + place)
            if key not in best or hit.complete:
                best[key] = hit
    ranked = sorted(best, key=lambda key: (not best[key].complete, -worth[key], key))
    end = query.offset + query.limit
    page = [best[key] for key in ranked[query.offset : end]]
    return page, len(ranked) > end or any(answer.more for answer in answers)


def _load(
    conn: apsw.Connection, hits: Sequence[Hit]
) -> list[tuple[tuple[DocKind, int], Record]]:
    keys = [(hit.kind, hit.id) for hit in hits]
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
