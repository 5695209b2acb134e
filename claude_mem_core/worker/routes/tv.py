"""What the TV page shows: titles, and not a word more."""

from __future__ import annotations

import time
from typing import Any

import apsw

from claude_mem_core.store import browse, cards, pages, projects
from claude_mem_core.store.browse import Shown
from claude_mem_core.types import DocKind
from claude_mem_core.worker.spec import (
    Call,
    Endpoint,
    Right,
    host_filter,
    platform,
    project,
    record,
)

SHOWN = 6
FIELDS = ("key", "type", "title", "project", "host", "t")


async def titles(call: Call) -> dict[str, Any]:
    """The newest titles, how many there are of today, how many in all."""
    name, host = call.params["project"], host_filter(call)
    midnight = _midnight()

    def read(conn: apsw.Connection) -> dict[str, Any]:
        ids = projects.find(conn, name) if name else None
        keys, _ = browse.page(conn, Shown(project_ids=ids, host=host), SHOWN)
        found = cards.cards(conn, [(key.doc_kind, key.id) for key in keys])
        today = browse.by_day(conn, Shown(project_ids=ids, host=host, since_ms=midnight))
        kinds = (DocKind.OBSERVATION, DocKind.SUMMARY)
        return {
            "items": [{field: card[field] for field in FIELDS} for card in found],
            "today": sum(day[2] for day in today),
            "total": sum(pages.count(conn, kind, ids) for kind in kinds),
        }

    return await call.services.store.aread(read)


def _midnight() -> int:
    """The midnight before now, in this machine's calendar."""
    now = time.localtime()
    return int(time.mktime((*now[:3], 0, 0, 0, 0, 0, -1))) * 1000


ENDPOINTS = (
    # Without a right: who has proved nothing gets here only by the TV's own door.
    Endpoint(
        "GET", "/api/tv", titles, "The newest titles", params=(project(), platform()),
        answers={200: record({"items": {"type": "array"}}, "items"), 429: record({})},
        right=Right.NONE, area="tv",
    ),
)  # fmt: skip
