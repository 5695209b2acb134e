"""One order out of several lists: by words, by meaning, and by what stands beside.

Each list is sharpened (the best of it stands out more), measured by its own spread
(z-scores) and summed; the sums are brought to 0..1, then neighbours in a session add
their share. Merging by places instead was measured to be worse than the words alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import apsw

from claude_mem_core.recall import neighbours
from claude_mem_core.recall.neighbours import Key
from claude_mem_core.recall.question import sentence
from claude_mem_core.store import feedback
from claude_mem_core.types import DocKind, Found, Hit, Query

BY_WORDS = 0.6  # weight of the lists by words; the others share the rest
SHARPENED = 2  # power of a score's share of the best one

Scores = Mapping[Key, float]


def fused(
    conn: apsw.Connection, query: Query, worded: Sequence[Hit], others: Sequence[Scores],
    most: int,
) -> list[Hit]:  # fmt: skip
    """Records with every word first, in the order of `worded`; then others, best first.

    At most `most` of these.
    """
    complete = {key_of(hit): hit for hit in worded if hit.complete}
    sums = _sums(worded, others)
    scores = neighbours.raised(conn, sums, new=not _narrow(query) and sentence(query))
    scores = _at_home(conn, query, sums, scores)
    said = feedback.every(conn)
    if said:
        scores = {key: score * _of(said, key).factor for key, score in scores.items()}
    ranked = sorted((-scores[key], key[0], -key[1]) for key in scores if key not in complete)
    rest = _first(conn, [(kind, -number) for _, kind, number in ranked], most, said)
    return [*complete.values(), *_partial(rest, scores, complete)]


def _of(said: Mapping[int, feedback.Said], key: Key) -> feedback.Said:
    """What people say of a record; nothing of prompts and summaries."""
    found = said.get(key[1]) if key[0] is DocKind.OBSERVATION else None
    return found or feedback.Said()


def _at_home(
    conn: apsw.Connection, query: Query, found: Scores, scores: dict[Key, float]
) -> dict[Key, float]:
    """Without neighbours from elsewhere: beside what is personal lies another project."""
    new = [key for key in scores if key not in found]
    if not new or not query.personal or query.project_ids is None:
        return scores
    kept = neighbours.inside(conn, new, query.project_ids)
    return {key: score for key, score in scores.items() if key in found or key in kept}


def _first(
    conn: apsw.Connection, ranked: Sequence[Key], most: int, said: Mapping[int, feedback.Said]
) -> list[Key]:
    """The first of a list, those behind that a later memory took the place of, or people.

    Only as many are looked up as are wanted.
    """
    found: list[Key] = []
    behind: list[Key] = []
    for start in range(0, len(ranked), most):
        some = ranked[start : start + most]
        late = neighbours.superseded(conn, some)
        late.update(key for key in some if _of(said, key).outdated)
        found += [key for key in some if key not in late]
        behind += [key for key in some if key in late]
        if len(found) >= most:
            break
    return [*found, *behind][:most]


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
    keys = list(dict.fromkeys([*by_words, *(key for scores in others for key in scores)]))
    lists = [(BY_WORDS if others else 1.0, by_words)]
    lists += [((1 - BY_WORDS) / len(others), dict(scores)) for scores in others]
    parts = [(weight, _spread(scores, keys)) for weight, scores in lists]
    sums = [sum(weight * part[at] for weight, part in parts) for at in range(len(keys))]
    low, high = min(sums, default=0.0), max(sums, default=0.0)
    if low == high:
        return dict.fromkeys(keys, 1.0)
    return {key: (one - low) / (high - low) for key, one in zip(keys, sums, strict=True)}


def _spread(scores: Scores, keys: Sequence[Key]) -> list[float]:
    """How far each score, sharpened, is from the mean; one that is not there counts 0."""
    top = max(scores.values(), default=0.0)
    if top <= 0:
        return [0.0] * len(keys)
    sharp = [max(0.0, scores.get(key, 0.0) / top) ** SHARPENED for key in keys]
    mean = sum(sharp) / len(sharp)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in sharp) / len(sharp)) or 1.0
    return [(value - mean) / deviation for value in sharp]
