"""Settings of how long and how much is kept."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from claude_mem_core.types import Setting

NAMES = ("events", "prompts", "summaries", "observations")

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


def rules_fault(rules: list[Any]) -> str:
    """What is wrong with a list of rules; empty when nothing is."""
    for number, entry in enumerate(rules, 1):
        fault = rule_fault(entry)
        if fault:
            return f"can't hold rule {number}: {fault}"
    return ""


def rule_fault(entry: Any) -> str:
    """Why this is no rule; empty when it is one."""
    if not isinstance(entry, Mapping) or entry.get("kind") not in {*NAMES, "all"}:
        return f"its kind must be all, {', '.join(NAMES)}"
    if unknown := sorted(set(entry) - {"kind", "project", "days", "count"}):
        return f"{unknown[0]!r} is not known"
    numbers = [entry.get(name, 0) for name in ("days", "count")]
    if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in numbers):
        return "days and count must be whole numbers"
    return "" if any(numbers) else "it needs days or count"
