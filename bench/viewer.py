"""How fast the page is over a large store: first paint, drawing, the worker's answers.

    .venv/bin/python bench/viewer.py --rows 100000 --json

A headless browser without a GPU opens the page several times with an empty cache, scrolls
from end to end, and searches. Needs the dev environment and `tools/debian.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from playwright.sync_api import Page

from claude_mem_core.testing.worker import LiveWorker
from tests.viewer_kit import browser, many, viewing, worker

ROUNDS = 5
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
ROWS = ".row:not(.bare)"
SCROLL = """async () => {
  const box = document.querySelector('.scroller');
  const frames = [];
  let before = performance.now();
  for (let n = 0; n < 100; n += 1) {
    box.scrollTop = n / 99 * box.scrollHeight;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    frames.push(now - before);
    before = now;
  }
  return frames;
}"""
TASKS = """
  window.__tasks = [];
  new PerformanceObserver((list) => window.__tasks.push(...list.getEntries().map((one) => one.duration)))
    .observe({ type: 'longtask', buffered: true });
"""


def measure(rows: int) -> dict[str, Any]:
    """The figures over a fresh store of that many memories."""
    with worker(lambda paths: many(paths, rows)) as (live, _), browser() as chrome:
        answers = {name: asked(live, path) for name, path in PATHS.items()}
        paints, ready = [], []
        for _ in range(ROUNDS):
            with viewing(chrome, live) as viewer:
                begun = time.perf_counter()
                page = viewer.open("/memories")
                page.wait_for_selector(ROWS)
                ready.append((time.perf_counter() - begun) * 1000)
                paints.append(page.evaluate(PAINT))
        with viewing(chrome, live) as viewer:
            viewer.page.add_init_script(TASKS)
            page = viewer.open("/memories")
            page.wait_for_selector(ROWS)
            found = scrolled(page)
    return {
        "rows": rows, "first_paint_ms_min": round(min(paints)),
        "first_paint_ms": round(median(paints)), "rows_shown_ms": round(median(ready)),
        **found, **answers,
    }  # fmt: skip


PATHS = {
    "start_ms": "/api/viewer/start", "page_ms": "/api/memories?limit=100",
    "outline_ms": "/api/memories/outline", "facets_ms": "/api/memories/facets",
    "search_ms": "/api/memories?q=words%20451&limit=100",
}  # fmt: skip


def asked(live: LiveWorker, path: str) -> float:
    """The fastest of several answers over the socket, in milliseconds."""

    def once() -> None:
        assert live.ask("GET", path).status == 200

    return round(min(timed(once) for _ in range(ROUNDS)), 1)


def timed(work: Callable[[], None]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def scrolled(page: Page) -> dict[str, Any]:
    """Frames of a way from the newest to the oldest memory."""
    page.evaluate("window.__tasks.length = 0")
    frames = page.evaluate(SCROLL)
    heap = page.evaluate("performance.memory?.usedJSHeapSize ?? 0")
    return {
        "frame_ms_median": round(median(frames), 1),
        "frame_ms_worst": round(max(frames), 1),
        "long_tasks": len(page.evaluate("window.__tasks")),
        "nodes": page.evaluate("document.querySelectorAll('*').length"),
        "heap_mb": round(heap / 1e6, 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    found = measure(args.rows)
    print(json.dumps(found) if args.json else json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
