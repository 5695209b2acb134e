"""What search, context and deep pages cost a large store: server CPU for each request.

    .venv/bin/python bench/query.py --rows 100000 --json

Fills a fresh store (20 projects, 25 observations a session, 180 days, a common word in
20 % of the rows), lets the index follow the change log, starts the real worker on it and
asks over its socket. CPU is what the kernel counted for the worker's process.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import os
import random
import socket
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import apsw

from claude_mem_core.paths import Paths
from claude_mem_core.recall import feed
from claude_mem_core.store import Store
from claude_mem_core.store.text import iso
from claude_mem_core.testing.worker import LiveWorker, data_dir, start
from claude_mem_core.worker.sockets import socket_path

PROJECTS = 20
PER_SESSION = 25
DAYS = 180
DEPTH = 90_000  # records before the deep page
NOW_MS = 1_782_900_000_000
COMMON, SECOND = "retry", "timeout"  # in 20 and 10 % of the observations
TYPES = ("bugfix", "feature", "refactor", "change", "discovery", "decision")
CHUNK = 5_000
PIECES, PIECE = 20_000, 10
SESSION_COLUMNS = (
    "id, content_session_id, memory_session_id, project, project_id, platform_source,"
    " started_at, started_at_epoch, status"
)
OBSERVATION_COLUMNS = (
    "memory_session_id, project, type, title, subtitle, narrative, facts, concepts,"
    " files_read, files_modified, prompt_number, discovery_tokens, created_at,"
    " created_at_epoch, project_id, session_db_id, platform_source"
)
_SYLLABLES = (
    "ba be bi co da de di fa fe ga ha he in ka ki la le lo ma me mi na ne no pa pe po ra re ri"
    " sa se so ta te ti to va ve vi za tion ment ing er ed al ist"
)
SYLLABLES = _SYLLABLES.split()


class Words:
    """Text with a vocabulary like that of real notes: few common words, many rare ones.

    Put together from pieces of ten words, for a million records have to be made.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        vocabulary = sorted({self._word() for _ in range(60_000)})
        self._random.shuffle(vocabulary)
        shares = list(itertools.accumulate(1 / (n + 10) for n in range(len(vocabulary))))
        many = self._random.choices(vocabulary, cum_weights=shares, k=PIECES * PIECE)
        self._pieces = [" ".join(many[n : n + PIECE]) for n in range(0, len(many), PIECE)]
        self._words = many

    def _word(self) -> str:
        return "".join(self._random.choices(SYLLABLES, k=self._random.randrange(2, 5)))

    def text(self, count: int) -> str:
        pieces = [self._random.choice(self._pieces) for _ in range(count // PIECE)]
        return " ".join([*pieces, *self.few(count % PIECE)])

    def few(self, count: int) -> list[str]:
        return [self._random.choice(self._words) for _ in range(count)]

    def chance(self, share: float) -> bool:
        return self._random.random() < share


def rows_of(words: Words, first: int, last: int, total: int) -> Iterator[tuple[object, ...]]:
    """Observations number `first` to `last` of `total`, oldest first."""
    for number in range(first, last):
        session = number // PER_SESSION
        project = session % PROJECTS
        at_ms = NOW_MS - int((1 - number / total) * DAYS * 86_400_000)
        narrative = words.text(60)
        narrative += f" {COMMON}" if words.chance(0.2) else ""
        narrative += f" {SECOND}" if words.chance(0.1) else ""
        path = f"src/{words.text(1)}/{words.text(1)}.py"
        yield (
            f"m{session}", f"project-{project}", TYPES[number % len(TYPES)], words.text(7),
            words.text(8), narrative, json.dumps([words.text(12), words.text(13)]),
            '["what-changed"]', "[]", json.dumps([path]), 1 + number % 3, 2_000, iso(at_ms),
            at_ms, project + 1, session + 1, "claude-code",
        )  # fmt: skip


def insert(
    conn: apsw.Connection, table: str, columns: str, rows: list[tuple[object, ...]]
) -> None:
    """Insert many rows at once."""
    marks = ", ".join("?" * (columns.count(",") + 1))
    conn.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)


def fill_sessions(conn: apsw.Connection, words: Words, total: int) -> None:
    """Projects, sessions, one prompt and one summary for each session."""
    for number in range(PROJECTS):
        insert(conn, "projects", "id, key, label, kind, created_at_epoch",
               [(number + 1, f"/p/{number}", f"project-{number}", "git", 0)])  # fmt: skip
    for session in range((total + PER_SESSION - 1) // PER_SESSION):
        at_ms = NOW_MS - int((1 - session * PER_SESSION / total) * DAYS * 86_400_000)
        label, project = f"project-{session % PROJECTS}", session % PROJECTS + 1
        insert(conn, "sdk_sessions", SESSION_COLUMNS, [
            (session + 1, f"c{session}", f"m{session}", label, project, "claude-code",
             iso(at_ms), at_ms, "completed")])  # fmt: skip
        insert(conn, "user_prompts", "session_db_id, content_session_id, prompt_number,"
               " prompt_text, created_at, created_at_epoch, project, project_id,"
               " platform_source", [
                   (session + 1, f"c{session}", 1, words.text(20), iso(at_ms), at_ms, label,
                    project, "claude-code")])  # fmt: skip
        insert(conn, "session_summaries", "memory_session_id, project, request, learned,"
               " completed, created_at, created_at_epoch, project_id, session_db_id,"
               " platform_source", [
                   (f"m{session}", label, words.text(12), words.text(25), words.text(25),
                    iso(at_ms), at_ms, project, session + 1, "claude-code")])  # fmt: skip


def fill(paths: Paths, total: int) -> float:
    """Make the store; return how many records the index took in a CPU second."""
    words = Words(7)
    store = Store.open(paths.database)
    try:
        store.write(partial(fill_sessions, words=words, total=total)).result()
        for first in range(0, total, CHUNK):
            rows = list(rows_of(words, first, min(first + CHUNK, total), total))
            store.write(
                partial(insert, table="observations", columns=OBSERVATION_COLUMNS, rows=rows)
            ).result()
        return index(store)
    finally:
        store.close()


def index(store: Store) -> float:
    """Let the index follow the change log."""
    began, taken = time.process_time(), 0
    while step := store.write(partial(feed.feed, limit=1_000)).result():
        taken += step
    return taken / max(0.01, time.process_time() - began)


class Asking:
    """One kept connection to the worker's socket."""

    def __init__(self, live: LiveWorker) -> None:
        self._live = live
        self._http = http.client.HTTPConnection("localhost")
        self._http.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._http.sock.connect(os.fspath(socket_path(live.paths)))

    def get(self, path: str, **params: object) -> bytes:
        self._http.request("GET", f"{path}?{urlencode(params)}")
        answer = self._http.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {body[:200]!r}")
        return body

    def cpu_ms(self, ask: Callable[[], bytes], rounds: int) -> float:
        """Server CPU of one request in milliseconds, after some to warm up."""
        for _ in range(5):
            ask()
        before = cpu_s(self._live.pid)
        for _ in range(rounds):
            ask()
        return round((cpu_s(self._live.pid) - before) * 1000 / rounds, 2)


def cpu_s(pid: int) -> float:
    """User and system time of a process in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(paths: Paths, total: int, rounds: int) -> dict[str, float]:
    """Ask the worker; every figure is the CPU of one request in milliseconds."""
    live = start(paths)
    try:
        asking = Asking(live)
        get = asking.get
        search = partial(get, "/api/search")
        context = partial(get, "/api/context/inject", platformSource="claude-code")
        page = partial(get, "/api/observations", limit=20)
        deep = min(DEPTH, total * 9 // 10)
        after = json.loads(page(offset=deep))["next"]
        asks: dict[str, Callable[[], bytes]] = {
            "search_common_cpu_ms": partial(search, query=COMMON),
            "search_two_words_cpu_ms": partial(search, query=f"{COMMON} {SECOND}"),
            "search_common_project_cpu_ms": partial(search, query=COMMON, project="project-3"),
            "search_question_cpu_ms": partial(search, query="why does the retry of a timeout fail"),
            "search_nothing_cpu_ms": partial(search, query="zebrafish"),
            "context_cpu_ms": partial(context, project="project-3"),
            "page_deep_cpu_ms": partial(page, offset=deep),
            "page_deep_key_cpu_ms": partial(page, before=after),
            "page_first_cpu_ms": partial(page, offset=0),
            "timeline_cpu_ms": partial(get, "/api/timeline", anchor=total // 2),
        }  # fmt: skip
        found = {name: asking.cpu_ms(ask, rounds) for name, ask in asks.items()}
        return {**found, "rss_mb": live.memory_mb()}
    finally:
        live.stop()


def run(rows: int, rounds: int) -> dict[str, float]:
    """Fill and measure."""
    with data_dir() as paths:
        began = time.perf_counter()
        rate = fill(paths, rows)
        filled_s = time.perf_counter() - began
        size = sum(path.stat().st_size for path in paths.data.glob("memory.db*"))
        found = measure(paths, rows, rounds)
    return {
        **found, "db_mb": round(size / 1e6, 1), "rows": rows, "fill_s": round(filled_s, 1),
        "indexed_per_cpu_s": round(rate),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=100)
    args = parser.parse_args()
    if not Path("/proc/self/stat").exists():
        sys.exit("this measurement needs /proc (Linux)")
    found = run(args.rows, args.rounds)
    if args.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:<30} {value}")


if __name__ == "__main__":
    main()
