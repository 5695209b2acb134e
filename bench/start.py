"""How fast the worker comes up, and what it weighs while nothing happens.

    .venv/bin/python bench/start.py --json

From the start of the process to the first healthy answer, on a data directory that has
been used before; the smallest of several starts.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

from claude_mem_core.testing.worker import data_dir, start

SETTLE_S = 2.0


def measure(rounds: int) -> dict[str, float]:
    """Start and stop the worker some times."""
    times: list[float] = []
    rss: list[float] = []
    with data_dir() as paths:
        first = start(paths)
        first.stop()
        for _ in range(rounds):
            live = start(paths)
            times.append(live.ready_s)
            if len(rss) < 3:
                time.sleep(SETTLE_S)
                rss.append(live.memory_mb())
            live.stop()
    return {
        "cold_start_s_min": round(min(times), 3),
        "rss_mb_idle": min(rss),
        "cold_start_s_median": round(statistics.median(times), 3),
        "first_start_s": round(first.ready_s, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rounds", type=int, default=10)
    args = parser.parse_args()
    found = measure(args.rounds)
    if args.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:<22} {value}")


if __name__ == "__main__":
    main()
