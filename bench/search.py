"""What a question costs a large store with all indexes: CPU, memory, indexing.

    .venv/bin/python bench/search.py --rows 100000 --json

Fills a store as `query.py` does, lets every installed backend follow the change log (the
quick embedder only), and asks five-word questions over everything and within a project,
each another one. CPU is that of this process, which does what the worker's threads do.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import time
from functools import partial
from pathlib import Path

import anyio

from bench.query import (
    CHUNK,
    NOW_MS,
    OBSERVATION_COLUMNS,
    Words,
    fill_sessions,
    insert,
    rows_of,
)
from bench.recall import Bench, opened
from claude_mem_core.recall.search import search
from claude_mem_core.store import Store
from claude_mem_core.testing.worker import data_dir
from claude_mem_core.types import Query

ROUNDS = 60
WARM = 6
ASKED = ("why", "how", "when")


def fill(store: Store, total: int) -> None:
    """Observations, sessions, prompts and summaries, not yet indexed."""
    words = Words(7)
    store.write(partial(fill_sessions, words=words, total=total)).result()
    later = int(time.time() * 1000) - NOW_MS  # a search by meaning looks back some days
    for first in range(0, total, CHUNK):
        made = rows_of(words, first, min(first + CHUNK, total), total)
        rows = [_later(row, later) for row in made]
        step = partial(insert, table="observations", columns=OBSERVATION_COLUMNS, rows=rows)
        store.write(step).result()


def _later(row: tuple[object, ...], by_ms: int) -> tuple[object, ...]:
    """A row with its time moved."""
    at = OBSERVATION_COLUMNS.split(", ").index("created_at_epoch")
    moved = row[at]
    assert isinstance(moved, int)
    return (*row[:at], moved + by_ms, *row[at + 1 :])


def rss_mb() -> float:
    """Memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def indexed(bench: Bench) -> tuple[float, float]:
    """CPU seconds that indexing takes, and how much the memory grows at most."""
    before, began, peak = rss_mb(), time.process_time(), 0.0

    async def follow() -> None:
        nonlocal peak
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            await bench.indexer.catch_up()
            tasks.cancel_scope.cancel()

    async def watch() -> None:
        nonlocal peak
        while True:
            peak = max(peak, rss_mb())
            await anyio.sleep(0.2)

    anyio.run(follow)
    return time.process_time() - began, max(peak, rss_mb()) - before


def questions(project: str | None) -> list[Query]:
    """Five-word questions: one of asking, four of the text's own words."""
    words, chance = Words(7), random.Random(11)
    found = []
    for _ in range(ROUNDS + WARM):
        text = " ".join([chance.choice(ASKED), *words.few(4)])
        found.append(Query(text=text, project=project))
    return found


def asked(bench: Bench, queries: list[Query]) -> list[float]:
    """CPU milliseconds of each, after some to warm up."""
    spent = []
    for query in queries:
        began = time.process_time()
        answer = search(bench, query)
        spent.append((time.process_time() - began) * 1000)
        if answer.failed:
            sys.exit(f"a search failed: {answer.failed}")
    return sorted(spent[WARM:])


def run(rows: int) -> dict[str, float]:
    """Fill, index, ask."""
    with data_dir() as paths:
        bench = opened(paths.data, "quick")
        fill(bench.store, rows)
        took, grew = indexed(bench)
        over_all = asked(bench, questions(None))
        within = asked(bench, questions("project-3"))
        methods = search(bench, questions(None)[0]).methods
        size = sum(path.stat().st_size for path in paths.data.glob("memory.db*"))
        bench.store.close()
    return {
        "question_cpu_ms": round(statistics.median(over_all), 1),
        "question_p95_ms": round(over_all[int(0.95 * len(over_all))], 1),
        "question_project_cpu_ms": round(statistics.median(within), 1),
        "question_project_p95_ms": round(within[int(0.95 * len(within))], 1),
        "index_cpu_s": round(took, 1), "rss_mb": round(grew, 1),
        "db_mb": round(size / 1e6, 1), "rows": rows, "methods": len(methods),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    if not Path("/proc/self/statm").exists():
        sys.exit("this measurement needs /proc (Linux)")
    found = run(args.rows)
    if args.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:<26} {value}")


if __name__ == "__main__":
    main()
