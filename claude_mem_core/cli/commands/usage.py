"""`mem usage`: what models cost, by day, session, project, provider or model."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

HELP = "show what models cost, and the budget"
BY = ("day", "session", "project", "provider", "model")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", type=int, default=30, help="how many, with today (30)")
    parser.add_argument("--by", choices=BY, default="day", help="one line for each (day)")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 done."""
    from claude_mem_core.cli.emit import emit, emit_json
    from claude_mem_core.cli.recalled import client
    from claude_mem_core.errors import UsageError

    if not 1 <= args.days <= 3_650:
        raise UsageError("--days takes a number from 1 to 3650")
    found = client().get("/api/usage", days=args.days, by=args.by)
    if args.json:
        emit_json(found)
        return 0
    for line in lines(found):
        emit(line)
    return 0


def lines(found: dict[str, Any]) -> Iterator[str]:
    """The figures for people."""
    if not found["items"]:
        yield f"no model was asked since {found['since']}"
    else:
        yield (
            f"{found['by']:<28} {'calls':>7} {'failed':>7} {'tokens in':>12}"
            f" {'cached':>12} {'tokens out':>12} {'USD':>9}"
        )
        yield from map(_row, found["items"])
        yield from _each(found)
    yield from budget(found)


def _row(item: dict[str, Any]) -> str:
    from claude_mem_core.render import for_prompt

    name = for_prompt(str(_name(item)), 28)
    cost = f"{item['cost_usd']:.4f}" if item["cost_usd"] else "-"
    return (
        f"{name:<28} {item['calls']:>7,} {item['failed']:>7,} {item['input_tokens']:>12,}"
        f" {item['cached_tokens']:>12,} {item['output_tokens']:>12,} {cost:>9}"
    )


def _each(found: dict[str, Any]) -> Iterator[str]:
    """What one memory cost."""
    made = found.get("memories", 0)
    if made:
        tokens = sum(i["input_tokens"] + i["output_tokens"] for i in found["items"])
        yield f"{made:,} memories made by models, about {tokens // made:,} tokens each"


def _name(item: dict[str, Any]) -> str:
    if "session" in item:
        return f"{item['project']} {item['session']}"
    return str(item["name"] or "-")


def budget(found: dict[str, Any]) -> Iterator[str]:
    """How much of today's budget is used."""
    for each in found["budget"] or ():
        what = "tokens" if each["setting"].endswith("TOKENS") else "calls"
        name = each["setting"].removeprefix("CLAUDE_MEM_").lower().replace("_", "-")
        share = 100 * each["used"] // each["limit"]
        yield f"today: {each['used']:,} of {each['limit']:,} {what} ({share} %), {name}"
