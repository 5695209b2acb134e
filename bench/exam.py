"""Examine the memories of recorded sessions against what a good memory of each holds.

    .venv/bin/python bench/exam.py [DIR] --json
    .venv/bin/python bench/exam.py DIR --direct      only the observer, without the chain
    .venv/bin/python bench/exam.py DIR --provider NAME

With a provider your settings and keys for it count, in a fresh data directory, and the
figures end with what it cost; `by_rules` counts memories that are not the model's.

Plays each session of DIR (`<session>/events.jsonl`) through the real hook client and the
real worker, waits until the queue is empty, and scores what is stored against
`<session>/expected.json`. `findable` asks our own search over all sessions in one store.

core, insight and findable are shares from 0 to 1, violations a sum, grade a mean of 0 to 100.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from bench.exam_direct import SUMMARY, observation_json, payloads, play
from bench.exam_model import choose, cost, reason
from claude_mem_core.edge import install_hook
from claude_mem_core.paths import Paths
from claude_mem_core.recall.keyword import open_index
from claude_mem_core.recall.records import kind_of
from claude_mem_core.recall.search import search
from claude_mem_core.settings import SettingsSource
from claude_mem_core.store import Store, memories
from claude_mem_core.testing.worker import LiveWorker, data_dir, start
from claude_mem_core.types import DocKind, Query, SearchIndex

HERE = Path(__file__).resolve().parent
EXAM = HERE.parent / "tests" / "exam"
HOST = "claude-code"
WAIT_S = 120.0
MODEL_WAIT_S = 3600.0
TOP = 5
Memories = dict[str, list[dict[str, Any]]]


def scorer() -> Any:
    """The scorer that lies with the sessions."""
    spec = importlib.util.spec_from_file_location("exam_score", EXAM / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@attrs.frozen
class Backends:
    """The opened search backends by name."""

    backends: dict[str, SearchIndex]
    exact: tuple[str, ...] = ("keyword",)


@attrs.frozen
class Recall:
    """What the product's search needs: a store and its indexes."""

    store: Store
    indexer: Backends
    settings: SettingsSource


class Chain:
    """One data directory with hook and worker, and the projects that are worked on."""

    def __init__(self, paths: Paths, base: Path) -> None:
        self.paths = paths
        self.base = base
        self.argv = install_hook(paths)
        self.sessions: dict[str, str] = {}

    def send(self, folder: Path) -> None:
        """Give every event of a session to the hook, as the host does."""
        project = self.base / folder.name
        (project / ".git").mkdir(parents=True)
        (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        for name, payload in payloads(folder, str(project)):
            self.sessions[folder.name] = payload["session_id"]
            subprocess.run(
                [*self.argv, HOST, name], input=json.dumps(payload).encode(), check=True,
                cwd=project, capture_output=True, timeout=60, env={"PATH": os.environ["PATH"]},
            )  # fmt: skip

    def settle(self, live: LiveWorker, seconds: float = WAIT_S) -> None:
        """Wait until nothing waits any more.

        Raises:
            SystemExit: it took too long.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            status = live.ask("GET", "/api/processing-status").json
            if not status["queueDepth"] and not status["isProcessing"] and not self._spooled():
                return
            time.sleep(0.1)
        raise SystemExit(f"the queue did not empty in {seconds:.0f} s{reason(live)}")

    def _spooled(self) -> bool:
        return any(self.paths.spool.glob("*.ev")) if self.paths.spool.exists() else False


def through_the_chain(
    folders: Sequence[Path], prepare: Callable[[Paths], None] | None = None, python: str = ""
) -> tuple[dict[str, Memories], Found, dict[str, Any]]:
    """What is stored of each session, how our search answers, and what models cost.

    `prepare` fills the data directory before the worker starts, which `python` runs.
    """
    with data_dir() as paths, tempfile.TemporaryDirectory() as base:
        if prepare is not None:
            prepare(paths)
        chain = Chain(paths, Path(base))
        live = start(paths, python=python)
        try:
            for folder in folders:
                chain.send(folder)
            chain.settle(live, MODEL_WAIT_S if prepare else WAIT_S)
        finally:
            live.stop()
        store = Store.open(paths.database)
        try:
            stored = _stored(store, chain.sessions)
            asked = _asked(store, folders, chain.sessions)
            return stored, asked, cost(paths, store) if prepare else {}
        finally:
            store.close()


Found = dict[str, list[tuple[str, str, dict[str, Any]]]]
IDS = """
  SELECT 'observation', o.id FROM observations o JOIN sdk_sessions s ON s.id = o.session_db_id
  WHERE s.content_session_id = ?1
  UNION ALL
  SELECT 'summary', o.id FROM session_summaries o JOIN sdk_sessions s ON s.id = o.session_db_id
  WHERE s.content_session_id = ?1
"""


def _stored(store: Store, sessions: dict[str, str]) -> dict[str, Memories]:
    return {
        name: store.read(partial(_of, session=session)) for name, session in sessions.items()
    }


def _of(conn: Any, session: str) -> Memories:
    made: Memories = {"observations": [], "summaries": []}
    for kind, number in conn.execute(IDS, (session,)).fetchall():
        made["observations" if kind == "observation" else "summaries"].append(
            _item(conn, kind, number)
        )
    return made


def _item(conn: Any, kind: str, number: int) -> dict[str, Any]:
    if kind == "observation":
        return observation_json(memories.observation(conn, number))
    summary = memories.summary(conn, number)
    table = "SELECT superseded_by IS NOT NULL FROM session_summaries WHERE id = ?"
    gone = bool(conn.execute(table, (number,)).fetchone()[0])
    return {**{field: getattr(summary, field) for field in SUMMARY}, "superseded": gone}


def _asked(store: Store, folders: Sequence[Path], sessions: dict[str, str]) -> Found:
    """(session, kind, item) of the first results of each question, by its text."""
    index = open_index(store)
    while index.feed(1000):
        pass
    settings = SettingsSource(Paths(store.path.parent))
    recall = Recall(store, Backends({"keyword": index}), settings)
    owner = {session: name for name, session in sessions.items()}
    found: Found = {}
    for folder in folders:
        for question in _expected(folder)["queries"]:
            kinds = (DocKind.OBSERVATION, DocKind.SUMMARY)
            query = Query(text=question["q"], kinds=kinds, limit=TOP)
            records = search(recall, query).records
            hits = [(kind_of(record), record.id) for record in records]
            found[question["q"]] = store.read(partial(_items, hits=hits, owner=owner))
    return found


def _items(
    conn: Any, hits: Any, owner: dict[str, str]
) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (_owner(conn, kind, number, owner), kind.value, _item(conn, kind.value, number))
        for kind, number in hits
    ]


def _owner(conn: Any, kind: DocKind, number: int, owner: dict[str, str]) -> str:
    table = "observations" if kind is DocKind.OBSERVATION else "session_summaries"
    query = f"SELECT s.content_session_id FROM {table} m JOIN sdk_sessions s ON s.id = m.session_db_id WHERE m.id = ?"
    return owner.get(conn.execute(query, (number,)).fetchone()[0], "")


def _expected(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "expected.json").read_text("utf-8"))
    return found


def grade(
    folders: Sequence[Path], results: dict[str, Memories], found: Found | None
) -> dict[str, Any]:
    """The figures, with a row for each session."""
    score = scorer()
    with tempfile.TemporaryDirectory() as out:
        for name, made in results.items():
            (Path(out) / f"{name}.json").write_text(json.dumps(made), "utf-8")
        rows, plain = score.score_all(folders[0].parent, out)
    total = score.totals(rows, plain)
    good, asked = plain if found is None else _findable(score, folders, found)
    return {
        "core": _share(total["core"]), "insight": _share(total["insight"]),
        "violations": total["violations"], "grade": round(total["grade"], 1),
        "findable": round(good / asked, 3) if asked else 1.0, "rows": rows,
    }  # fmt: skip


def _findable(score: Any, folders: Sequence[Path], found: Found) -> tuple[int, int]:
    good = asked = 0
    for folder in folders:
        expected, events = _expected(folder), score.Events(folder / "events.jsonl")
        musts = {must["id"]: must for must in expected["must"]}
        for question in expected["queries"]:
            mine = [
                (k, score.normalise(_flat(score, k, i)), i)
                for s, k, i in found[question["q"]]
                if s == folder.name
            ]
            asked += 1
            good += bool(score.satisfied(musts[question["expects"]], mine, events))
    return good, asked


def _flat(score: Any, kind: str, item: dict[str, Any]) -> str:
    fields = score.OBS_FIELDS if kind == "observation" else score.SUM_FIELDS
    return str(score.flat(item, fields))


def _share(pair: tuple[int, int]) -> float:
    return round(pair[0] / pair[1], 3) if pair[1] else 1.0


def examine(
    folder: Path, *, direct: bool = False, prepare: Callable[[Paths], None] | None = None,
    python: str = "",
) -> dict[str, Any]:  # fmt: skip
    """The figures of all sessions in `folder`; with `prepare` also what models cost."""
    folders = sorted(path.parent for path in folder.glob("*/events.jsonl"))
    if not folders:
        raise SystemExit(f"no session in {folder}: name a folder of <session>/events.jsonl")
    if direct:
        return grade(folders, {f.name: play(f).export() for f in folders}, None)
    results, found, cost = through_the_chain(folders, prepare, python)
    return {**grade(folders, results, found), **cost}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=EXAM / "open")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--direct", action="store_true", help="without hook, worker and store")
    parser.add_argument("--provider", help="who makes the memories: a provider's name")
    args = parser.parse_args()
    prepare = partial(choose, provider=args.provider) if args.provider else None
    figures = examine(args.folder, direct=args.direct, prepare=prepare)
    rows = figures.pop("rows")
    if args.json:
        print(json.dumps(figures))
        return
    for row in rows:
        scorer().show_one(row)
    print(figures)


if __name__ == "__main__":
    main()
