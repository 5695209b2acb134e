"""Run the measurements one after the other and print them beside their goals.

    .venv/bin/python bench/table.py [--rows 100000] [--large 1000000] [--write]

`--large` also runs the queries on a larger store and prints how the cost grows.
`--write` puts the table into docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "performance.md"
BEGIN, END = "<!-- table -->", "<!-- /table -->"


@attrs.frozen
class Row:
    """One measure: where it comes from, what is to be reached, what the peer takes.

    `more` is true where more is better.
    """

    name: str
    script: str
    key: str
    unit: str
    goal: float
    peer: float | None = None
    more: bool = False


ROWS = (
    Row(
        "hook round trip, warm worker, against a bare interpreter",
        "hook",
        "ratio",
        "x",
        1.15,
        40,
    ),
    Row("hook round trip, min wall", "hook", "hook_ms_min", "ms", 0, 452),
    Row("hook CPU", "hook", "hook_cpu_ms_min", "ms", 15, 535),
    Row(
        "accepted events, on disk, 8 connections",
        "ingest",
        "accepted_per_s",
        "/s",
        800,
        112,
        True,
    ),
    Row("RSS peak in 2,000 events", "ingest", "rss_mb_peak", "MB", 90, 220),
    Row("worker cold start to healthy, min", "start", "cold_start_s_min", "s", 0.5, 0.63),
    Row("RSS idle", "start", "rss_mb_idle", "MB", 60, 102),
    Row("search of one common word, server CPU", "query", "search_common_cpu_ms", "ms", 20, 84),
    Row("search of two words, server CPU", "query", "search_two_words_cpu_ms", "ms", 0, 49),
    Row("five-word question, words and meaning, CPU", "search", "question_cpu_ms", "ms", 50),
    Row("the same within a project", "search", "question_project_cpu_ms", "ms", 25),
    Row("indexing 100,000 records, CPU", "search", "index_cpu_s", "s", 60),
    Row("memory that indexing adds", "search", "rss_mb", "MB", 150),
    Row("session-start context, server CPU", "query", "context_cpu_ms", "ms", 10, 93),
    Row(
        "page of observations at depth 90,000, server CPU",
        "query",
        "page_deep_cpu_ms",
        "ms",
        3,
        155,
    ),
    Row("events lost in 20 kills", "kill", "lost", "", 0, None),
    Row(
        "install of core, one host and search by meaning, on disk",
        "size",
        "env_mb",
        "MB",
        100,
        620,
    ),
)


def arguments(script: str, rows: int) -> list[str]:
    """What a script gets beside --json."""
    sized = ["--rows", str(rows)]
    extra = {"query": sized, "search": sized, "kill": ["--kills", "20"]}
    return ["--json", *extra.get(script, [])]


def measured(script: str, rows: int) -> dict[str, Any]:
    """One script's JSON object."""
    argv = [sys.executable, str(HERE / f"{script}.py"), *arguments(script, rows)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def line(row: Row, value: float) -> str:
    """One row of the table."""
    goal = f"{row.goal:g} {row.unit}".strip() if row.goal or row.key == "lost" else ""
    peer = f"{row.peer:g} {row.unit}" if row.peer is not None else ""
    ratio = _ratio(row, value)
    return f"| {row.name} | {value:g} {row.unit} | {goal} | {peer} | {ratio} |"


def _ratio(row: Row, value: float) -> str:
    if not row.peer or not value:
        return ""
    return f"{value / row.peer if row.more else row.peer / value:.1f} x better"


def table(found: dict[str, dict[str, Any]]) -> str:
    """The table as Markdown."""
    head = (
        "| measure | measured | to reach | claude-mem 13.25.3 | ratio |\n|---|---|---|---|---|"
    )
    return "\n".join([head, *(line(row, found[row.script][row.key]) for row in ROWS)])


def growth(small: dict[str, Any], large: dict[str, Any], rows: int, more: int) -> str:
    """How the queries grow with the store."""
    keys = [key for key in small if key.endswith("_cpu_ms")]
    head = (
        f"| query, server CPU ms | {rows:,} rows | {more:,} rows | factor |\n|---|---|---|---|"
    )
    body = [
        f"| {key.removesuffix('_cpu_ms')} | {small[key]:g} | {large[key]:g} |"
        f" {large[key] / max(small[key], 0.01):.1f} |"
        for key in keys
    ]
    return "\n".join([head, *body])


def write(text: str) -> None:
    """Put the table between its marks on the page."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def main() -> None:
    """Measure, print, perhaps write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--large", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    found = {name: measured(name, args.rows) for name in dict.fromkeys(r.script for r in ROWS)}
    text = table(found)
    if args.large:
        large = measured("query", args.large)
        text += "\n\n" + growth(found["query"], large, args.rows, args.large)
    print(text)
    if args.write:
        write(text)


if __name__ == "__main__":
    main()
