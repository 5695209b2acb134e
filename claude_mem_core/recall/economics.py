"""What remembering saves: tokens to read the memories against tokens of the work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from claude_mem_core.recall.context_rows import Row

FORECAST_FROM = 10  # rows; of fewer all may be fetched


def stats(rows: Sequence[Row], settings: Mapping[str, Any]) -> str:
    """The `Stats:` line; empty when the settings leave nothing to say."""
    if not rows:
        return ""
    read, work = sum(row.read for row in rows), sum(row.work for row in rows)
    parts = [f"{len(rows)} obs"]
    if settings["CLAUDE_MEM_CONTEXT_SHOW_READ_TOKENS"]:
        parts[0] += f" ({read:,}t read)"
    if settings["CLAUDE_MEM_CONTEXT_SHOW_WORK_TOKENS"] and work:
        parts.append(f"{work:,}t work")
    saved = work - read
    if saved > 0:
        parts += _saved(saved, work, settings)
    if settings["CLAUDE_MEM_CONTEXT_SHOW_READ_TOKENS"] and len(rows) >= FORECAST_FROM:
        parts += _forecast(rows)
    return "Stats: " + " | ".join(parts)


def _forecast(rows: Sequence[Row]) -> list[str]:
    """What it would cost to fetch all of a kind that is often wanted."""
    groups = {
        "gotchas": [row for row in rows if "gotcha" in row.concepts],
        "decisions": [row for row in rows if row.type == "decision"],
        "bugfixes": [row for row in rows if row.type == "bugfix"],
    }
    costs = [
        f"{name} ({len(some)}) ~{sum(row.read for row in some):,}t"
        for name, some in groups.items()
        if some
    ]
    return [f"to fetch: {', '.join(costs)}"] if costs else []


def _saved(saved: int, work: int, settings: Mapping[str, Any]) -> list[str]:
    """The percentage wins over the amount."""
    if settings["CLAUDE_MEM_CONTEXT_SHOW_SAVINGS_PERCENT"]:
        return [f"{100 * saved // work}% savings"]
    if settings["CLAUDE_MEM_CONTEXT_SHOW_SAVINGS_AMOUNT"]:
        return [f"{saved:,}t saved"]
    return []


def costs(row: Row, settings: Mapping[str, Any]) -> str:
    """Cost of one observation: `Read ~120t, work 2,400t`; empty when not wanted."""
    parts = []
    if settings["CLAUDE_MEM_CONTEXT_SHOW_READ_TOKENS"]:
        parts.append(f"read ~{row.read:,}t")
    if settings["CLAUDE_MEM_CONTEXT_SHOW_WORK_TOKENS"] and row.work:
        parts.append(f"work {row.work:,}t")
    return ", ".join(parts)


def footer(rows: Sequence[Row], settings: Mapping[str, Any]) -> str:
    """The last line: how much past work can be fetched by id."""
    work = sum(row.work for row in rows)
    if not work or not settings["CLAUDE_MEM_CONTEXT_SHOW_WORK_TOKENS"]:
        return ""
    return f"Behind these titles stand {work:,} tokens of past work: fetch by ID what you need."
