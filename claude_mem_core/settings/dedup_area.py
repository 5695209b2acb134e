"""Settings of near-duplicates."""

from __future__ import annotations

from functools import partial

from claude_mem_core.settings.worker_area import FILE
from claude_mem_core.types import Setting

_dedup = partial(Setting, area="dedup", sources=FILE)
_count = partial(_dedup, type="int", low=0, high=10_000_000)

DEDUP = (
    _dedup(
        key="CLAUDE_MEM_DEDUP_ENABLED",
        type="bool",
        default=False,
        help="Merge observations of the same title, and note pairs that are alike.",
    ),
    _dedup(
        key="CLAUDE_MEM_DEDUP_COSINE_THRESHOLD",
        type="number",
        default=0.8,
        low=0,
        high=1,
        help="How alike two titles must be, 0 to 1, to be noted as a pair.",
    ),
    _count(
        key="CLAUDE_MEM_DEDUP_IDF_VETO_DF",
        default=10,
        help="A word in so few titles of a project, and in one of the two, tells them apart.",
    ),
    _count(
        key="CLAUDE_MEM_DEDUP_MIN_SHARED_TOKENS",
        default=2,
        help="Words that two titles must share.",
    ),
    _count(
        key="CLAUDE_MEM_DEDUP_MIN_PROJECT_DOCS",
        default=10,
        help="Observations that a project must have before pairs are looked for.",
    ),
    _count(
        key="CLAUDE_MEM_DEDUP_MAX_SCAN",
        default=2_000,
        help="Newest observations that a new one is compared with.",
    ),
    _count(
        key="CLAUDE_MEM_DEDUP_MAX_BACKFILL_ROWS",
        default=50_000,
        help="A larger project is left out of `mem dedup scan`.",
    ),
)
