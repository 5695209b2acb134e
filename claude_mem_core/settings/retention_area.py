"""Settings of how long and how much is kept."""

from __future__ import annotations

from functools import partial

from claude_mem_core.types import Setting

_retention = partial(
    Setting, area="retention", scope="machine", sources=("file", "environment", "viewer")
)

RETENTION = (
    _retention(
        key="CLAUDE_MEM_RETENTION_RULES",
        type="json",
        default=[],
        help='What goes by itself: [{"kind": "events", "project": "shop", "days": 90, "count":'
        " 10000}]; kind is observations, summaries, prompts, events or all; project, days and"
        " count may be left out. What is pinned stays.",
    ),
    _retention(
        key="CLAUDE_MEM_RETENTION_MAX_MB",
        type="int",
        default=0,
        low=0,
        high=1_000_000,
        help="How large the database may be in MB; beyond it the oldest goes, raw events first."
        " 0 for no limit.",
    ),
)
