"""Every record that holds all the words of a query, without a page's end."""

from __future__ import annotations

import apsw
import attrs

from claude_mem_core.recall.counts import Counts
from claude_mem_core.recall.find import find
from claude_mem_core.types import DocKind, Query

PAGE = 1_000
MOST_FOUND = 100_000


def every(conn: apsw.Connection, query: Query) -> dict[DocKind, list[int]]:
    """The ids of each kind, best first."""
    found: dict[DocKind, list[int]] = {kind: [] for kind in DocKind}
    query = attrs.evolve(query, limit=PAGE, match_all=True)
    for offset in range(0, MOST_FOUND, PAGE):
        page = find(conn, attrs.evolve(query, offset=offset), Counts(), 1.0)
        for hit in page.hits:
            found[hit.kind].append(hit.id)
        if not page.more:
            break
    return found
