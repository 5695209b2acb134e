"""How often search finds the turns of long conversations that answer a question.

    .venv/bin/python bench/recall.py locomo10.json --json

The LoCoMo conversations (not part of this repository: CC BY-NC 4.0, for measuring only)
are kept as the product keeps memories: each conversation a project, each turn an
observation of its session. Every question is asked through the product's search, once
with what is installed by default and once with the best embedder that is installed.
R@10 is the share of the turns named as evidence that are among the first ten.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw
import attrs

from claude_mem_core.extensions import registry_of
from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.index import Indexer
from claude_mem_core.projects import Place
from claude_mem_core.recall.search import search
from claude_mem_core.settings import SettingsSource, writing
from claude_mem_core.store import Store, projects
from claude_mem_core.store.text import iso
from claude_mem_core.types import DocKind, Query, WorksWhenIdle

TOP = 10
NO_ANSWER = 5  # the category of questions that have none
TURN_MS = 60_000
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


@attrs.frozen
class Question:
    """A question and the ids of the observations that answer it."""

    project: str
    text: str
    wanted: frozenset[int]


@attrs.frozen
class Bench:
    """A store with its indexes, as the worker has them."""

    store: Store
    indexer: Indexer
    settings: SettingsSource


def turns(talk: Mapping[str, Any]) -> Iterator[tuple[int, str, str]]:
    """Session, id and text of each turn, in order."""
    numbers = sorted(
        int(match[1]) for key in talk if (match := re.fullmatch(r"session_(\d+)", key))
    )
    for number in numbers:
        for turn in talk[f"session_{number}"]:
            text = f"{turn['speaker']}: {turn['text']}"
            caption = turn.get("blip_caption")
            yield (
                number,
                turn["dia_id"],
                f"{text} [shares a photo of {caption}]" if caption else text,
            )


def fill(store: Store, data: Sequence[Mapping[str, Any]]) -> list[Question]:
    """Keep all conversations; return their questions."""

    def write(conn: apsw.Connection) -> list[Question]:
        return [question for item in data for question in _talk(conn, item)]

    return store.write(write).result()


def _talk(conn: apsw.Connection, item: Mapping[str, Any]) -> list[Question]:
    label = str(item["sample_id"])
    now = int(time.time() * 1000)
    place = Place(key=f"/{label}", label=label, kind="git", root=f"/{label}")
    ref = projects.resolve(conn, place, now)
    rows: dict[str, int] = {}
    for number, (session, name, text) in enumerate(turns(item["conversation"])):
        owner = _session(conn, f"{label}-{session}", ref)
        rows[name] = _turn(conn, owner, text, ref, now - 86_400_000 + number * TURN_MS)
    return list(_questions(item["qa"], label, rows))


def _session(conn: apsw.Connection, name: str, ref: projects.ProjectRef) -> tuple[int, str]:
    sql = (
        "INSERT OR IGNORE INTO sdk_sessions (content_session_id, memory_session_id, project,"
        " project_id, platform_source, started_at, started_at_epoch, status)"
        " VALUES (?1, ?1, ?2, ?3, 'claude-code', '', 0, 'completed')"
    )
    conn.execute(sql, (name, ref.label, ref.id))
    found = conn.execute("SELECT id FROM sdk_sessions WHERE content_session_id = ?", (name,))
    return int(next(found)[0]), name


def _turn(
    conn: apsw.Connection, owner: tuple[int, str], text: str, ref: projects.ProjectRef, at: int
) -> int:
    sql = (
        "INSERT INTO observations (memory_session_id, session_db_id, project, project_id, type,"
        " narrative, created_at, created_at_epoch, platform_source)"
        " VALUES (?, ?, ?, ?, 'discovery', ?, ?, ?, 'claude-code') RETURNING id"
    )
    values = (owner[1], owner[0], ref.label, ref.id, text, iso(at), at)
    return int(next(conn.execute(sql, values))[0])


def _questions(
    asked: Sequence[Mapping[str, Any]], label: str, rows: Mapping[str, int]
) -> Iterator[Question]:
    for one in asked:
        named = _EVIDENCE.findall(" ".join(one.get("evidence", ())))
        wanted = {rows[key] for a, b in named if (key := f"D{int(a)}:{int(b)}") in rows}
        if wanted and one["category"] != NO_ANSWER:
            yield Question(label, one["question"], frozenset(wanted))


def opened(folder: Path, embedder: str) -> Bench:
    """The store in `folder` with every installed search backend."""
    paths = Paths(folder)
    writing.put(paths, {"CLAUDE_MEM_EMBEDDER": embedder})
    settings, registry = registry_of(paths)
    store = Store.open(paths.database)
    indexer = Indexer(store, registry, settings)
    indexer.open()
    if indexer.faults:
        sys.exit(f"a search backend did not open: {indexer.faults}")
    return Bench(store, indexer, settings)


def caught_up(bench: Bench) -> None:
    """Let every index take everything, the work that can wait too."""
    import anyio

    anyio.run(bench.indexer.catch_up)
    for backend in bench.indexer.backends.values():
        if hasattr(backend, "quiet_s"):
            backend.quiet_s = 0.0
        while isinstance(backend, WorksWhenIdle) and backend.idle():
            pass


def measure(bench: Bench, questions: Sequence[Question]) -> dict[str, float]:
    """Recall, mean reciprocal rank of the first right one, CPU of a question."""
    recalls, ranks, spent = [], [], []
    for question in questions:
        query = Query(
            text=question.text,
            project=question.project,
            kinds=(DocKind.OBSERVATION,),
            limit=100,
        )
        began = time.process_time()
        found = [record.id for record in search(bench, query).records]
        spent.append((time.process_time() - began) * 1000)
        recalls.append(len(question.wanted & set(found[:TOP])) / len(question.wanted))
        first = next((n for n, one in enumerate(found, 1) if one in question.wanted), None)
        ranks.append(1 / first if first else 0.0)
    return {
        "r10": round(statistics.fmean(recalls), 4),
        "mrr": round(statistics.fmean(ranks), 4),
        "cpu_ms": round(statistics.fmean(spent), 2),
    }


def run(data: Path) -> dict[str, Any]:
    """Both measurements."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        bench = opened(folder, "quick")
        questions = fill(bench.store, json.loads(data.read_text(encoding="utf-8")))
        caught_up(bench)
        quick = measure(bench, questions)
        bench.store.close()
        bench = opened(folder, "auto")
        caught_up(bench)
        best = measure(bench, questions)
        for backend in bench.indexer.backends.values():
            if hasattr(backend, "close"):
                backend.close()
        bench.store.close()
    found["r10_default"], found["mrr_default"] = quick["r10"], quick["mrr"]
    found["cpu_ms"] = quick["cpu_ms"]
    found["r10_best"], found["mrr_best"] = best["r10"], best["mrr"]
    return {**found, "questions": len(questions)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="locomo10.json")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    found = run(args.data)
    if args.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:<20} {value}")


if __name__ == "__main__":
    main()
