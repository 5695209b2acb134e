"""One order out of several lists: by words, by meaning, and by what stands beside.

Each list is measured by its own spread (z-scores), the sums are brought to 0..1, then
neighbours in a session add their share. Measured against merging by places: that is
worse than the words alone.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

import apsw

from claude_mem_core.recall import neighbours
from claude_mem_core.recall.neighbours import Key
from claude_mem_core.types import Found, Hit, Query

BY_WORDS = 0.5  # weight of the lists by words; the others share the rest

Scores = Mapping[Key, float]


def fused(
    conn: apsw.Connection, query: Query, worded: Sequence[Hit], others: Sequence[Scores]
) -> list[Hit]:
    """Records with every word first, in the order of `worded`; then all others, best first."""
    complete = {key_of(hit): hit for hit in worded if hit.complete}
    scores = neighbours.raised(conn, _sums(worded, others), new=not _narrow(query))
    rest = [key for key in scores if key not in complete]
    behind = neighbours.superseded(conn, rest)
    rest.sort(key=lambda key: (key in behind, -scores[key], key[0].value, -key[1]))
    return [*complete.values(), *_partial(rest, scores, complete)]


def key_of(hit: Hit) -> Key:
    """What identifies the record of a hit."""
    return hit.kind, hit.id


def found_scores(found: Found) -> dict[Key, float]:
    """The scores of an answer by record."""
    return {key_of(hit): hit.score for hit in found.hits}


def _narrow(query: Query) -> bool:
    """Whether a neighbour may be outside of what was asked for."""
    filters = (query.types, query.concepts, query.files, query.host, query.since_ms)
    return any(filters) or query.until_ms is not None or "observation" not in query.kinds


def _partial(rest: Sequence[Key], scores: Scores, complete: Mapping[Key, Hit]) -> list[Hit]:
    """Hits whose scores go on below those with every word."""
    lowest = min((hit.score for hit in complete.values()), default=float("inf"))
    made = []
    for kind, number in rest:
        lowest = min(lowest, scores[kind, number])
        made.append(Hit(kind=kind, id=number, score=round(lowest, 4), complete=False))
    return made


def _sums(worded: Sequence[Hit], others: Sequence[Scores]) -> dict[Key, float]:
    """One score between 0 and 1 for each record of any list."""
    by_words = {key_of(hit): hit.score for hit in worded}
    keys = dict.fromkeys([*by_words, *(key for scores in others for key in scores)])
    parts = [(1.0 if not others else BY_WORDS, _spread(by_words, keys, 0.0))]
    parts += [((1 - BY_WORDS) / len(others), _spread(scores, keys, None)) for scores in others]
    sums = {key: sum(weight * part[key] for weight, part in parts) for key in keys}
    low, high = min(sums.values(), default=0.0), max(sums.values(), default=0.0)
    return {key: (value - low) / ((high - low) or 1.0) for key, value in sums.items()}


def _spread(scores: Scores, keys: Mapping[Key, None], missing: float | None) -> Scores:
    """Scores by their distance from the mean; unknown ones count `missing`, or the mean."""
    there = [scores.get(key, missing) for key in keys]
    known = [value for value in there if value is not None]
    if not known:
        return dict.fromkeys(keys, 0.0)
    mean, deviation = statistics.fmean(known), statistics.pstdev(known) or 1.0
    pairs = zip(keys, there, strict=True)
    return {key: 0.0 if value is None else (value - mean) / deviation for key, value in pairs}
