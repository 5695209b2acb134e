"""What a new memory does to older ones: it replaces what it contradicts, or joins its like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import apsw
import attrs

from claude_mem_core.store import dedup, memories, subjects

NAMES = {
    "threshold": "COSINE_THRESHOLD", "veto": "IDF_VETO_DF", "shared": "MIN_SHARED_TOKENS",
    "least": "MIN_PROJECT_DOCS", "scan": "MAX_SCAN", "largest": "MAX_BACKFILL_ROWS",
}  # fmt: skip


def rules(settings: Mapping[str, Any]) -> dedup.Rules:
    """When titles are alike, by the settings."""
    values = {name: settings[f"CLAUDE_MEM_DEDUP_{key}"] for name, key in NAMES.items()}
    return dedup.Rules(**values)


def settled(
    conn: apsw.Connection, kept: memories.Kept, settings: Mapping[str, Any], now: int
) -> memories.Kept:
    """What is kept in the end, in the transaction that keeps it."""
    numbers = [one.id for one in kept.observations]
    for number in numbers:
        subjects.settle(conn, number)
    if settings["CLAUDE_MEM_DEDUP_ENABLED"]:
        numbers = list(_deduped(conn, numbers, rules(settings), now))
    return attrs.evolve(kept, observations=memories.observations(conn, numbers))


def _deduped(
    conn: apsw.Connection, numbers: Iterable[int], by: dedup.Rules, now: int
) -> Iterable[int]:
    return dict.fromkeys(dedup.settle(conn, number, by, now) for number in numbers)
