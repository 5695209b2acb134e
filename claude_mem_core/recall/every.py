"""Every record that holds all the words of a query, without a page's end."""

from __future__ import annotations

import apsw
import attrs

from claude_mem_core.errors import StoreError
from claude_mem_core.recall.counts import Counts, records
from claude_mem_core.recall.feed import pending
from claude_mem_core.recall.find import find
from claude_mem_core.types import DocKind, Query


def every(conn: apsw.Connection, query: Query) -> dict[DocKind, list[int]]:
    """The ids of each kind, the newest first, however many they are.

    In order of dates, for an order of relevance looks at the newest alone.

    Raises:
        StoreError: the word index has not taken in everything, so that some would be missing.
    """
    if pending(conn):
        raise StoreError(
            "the word index has not taken in every memory yet, so that some would be missing:"
            " `mem start` makes up for it within seconds; then do this again"
        )
    whole = attrs.evolve(query, match_all=True, order="date_desc", limit=records(conn))
    found: dict[DocKind, list[int]] = {kind: [] for kind in DocKind}
    for hit in find(conn, whole, Counts(), 1.0).hits:
        found[hit.kind].append(hit.id)
    return found
