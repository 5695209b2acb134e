"""How often search finds the memories of a commit when asked with its subject.

    .venv/bin/python bench/memories.py REPO --json

Any git repository. Each commit (no merges, newest last) becomes a session: its changes
are edits of files, told to the built-in observer without the commit's message. What the
observer remembers is kept as the product keeps it; then every subject is asked, over all
commits. R@10 is the share of commits of which a memory is among the first ten, R@1 of
those where it is the first. Commits of which nothing was remembered count as not found.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw
import attrs

from bench.recall import Bench, caught_up, opened
from claude_mem_core.observer.builtin import observe
from claude_mem_core.projects import Place
from claude_mem_core.recall.search import search
from claude_mem_core.store import memories, projects
from claude_mem_core.types import (
    Batch,
    DocKind,
    Event,
    EventKind,
    Observed,
    Query,
    StoredEvent,
    ToolUse,
)

MOST = 300  # commits
FILES, HUNKS, CHARS = 12, 4, 4_000  # of a commit, of a file, of a side of a hunk
TOP = 10
WORDS = 3  # shorter subjects ("Bump version") ask for nothing
ROOT = "/repo"
PROJECT = "repo"
DAY_MS = 86_400_000
_START = "\x1e"


@attrs.frozen
class Commit:
    """One commit: its subject and what it changed, (path, before, after)."""

    name: str
    subject: str
    changes: tuple[tuple[str, str, str], ...]


def commits(repository: Path, most: int) -> list[Commit]:
    """The newest commits, oldest first.

    Raises:
        SystemExit: it is no git repository.
    """
    argv = [
        "git", "-C", str(repository), "--no-pager", "log", "--no-merges", f"-n{most}", "-p",
        "-U3", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames",
        f"--format={_START}%H%n%s",
    ]  # fmt: skip
    done = subprocess.run(argv, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"git log failed in {repository}: {done.stderr.decode(errors='replace')}")
    text = done.stdout.decode("utf-8", "replace")
    found = [_commit(part) for part in text.split(_START)[1:]]
    return [one for one in reversed(found) if one.changes and len(one.subject.split()) >= WORDS]


def _commit(text: str) -> Commit:
    name, subject, *rest = text.split("\n", 2)
    files = re.split(r"^diff --git .*$", rest[0] if rest else "", flags=re.MULTILINE)[1:]
    changes = [change for part in files[:FILES] for change in _changes(part)]
    return Commit(name, subject, tuple(changes))


def _changes(part: str) -> Iterator[tuple[str, str, str]]:
    """The hunks of one file: its path, the lines before and after."""
    paths = re.findall(r"^(?:---|\+\+\+) [ab]/(.+)$", part, flags=re.MULTILINE)
    if not paths:
        return
    for hunk in re.split(r"^@@ .*$", part, flags=re.MULTILINE)[1 : HUNKS + 1]:
        lines = hunk.split("\n")[1:]
        before = "\n".join(line[1:] for line in lines if line[:1] in {" ", "-"})
        after = "\n".join(line[1:] for line in lines if line[:1] in {" ", "+"})
        yield paths[-1].rstrip("\t"), before[:CHARS], after[:CHARS]


def batch_of(commit: Commit, session: int) -> Batch:
    """The edits of a commit as one turn without words."""
    uses = [_use(number, *change) for number, change in enumerate(commit.changes)]
    events = [_event(EventKind.TOOL_USED, commit.name, use) for use in uses]
    events.append(_event(EventKind.TURN_ENDED, commit.name, None))
    stored = [
        StoredEvent(id=n, event=event, prompt_number=1) for n, event in enumerate(events, 1)
    ]
    return Batch(session_db_id=session, project=PROJECT, events=stored, root=ROOT)


def _use(number: int, path: str, before: str, after: str) -> ToolUse:
    where = f"{ROOT}/{path}"
    if before.strip():
        given = {"file_path": where, "old_string": before, "new_string": after}
        return ToolUse(name="Edit", id=f"t{number}", input=given, output={"success": True})
    given = {"file_path": where, "content": after}
    return ToolUse(name="Write", id=f"t{number}", input=given, output={"success": True})


def _event(kind: EventKind, session: str, use: ToolUse | None) -> Event:
    return Event(kind=kind, host="claude-code", session_id=session, cwd=ROOT, tool=use)


def fill(bench: Bench, found: Sequence[Commit], now: int) -> dict[int, str]:
    """Keep what the observer makes of every commit; the sessions by number."""
    made = [observe(batch_of(commit, number)) for number, commit in enumerate(found, 1)]

    def write(conn: apsw.Connection) -> None:
        place = Place(key=ROOT, label=PROJECT, kind="git", root=ROOT)
        ref = projects.resolve(conn, place, now)
        for number, (commit, observed) in enumerate(zip(found, made, strict=True), 1):
            _keep(conn, ref, number, commit, observed, now - DAY_MS + number * 1000)

    bench.store.write(write).result()
    return {number: commit.name for number, commit in enumerate(found, 1)}


def _keep(
    conn: apsw.Connection, ref: projects.ProjectRef, number: int, commit: Commit,
    observed: Observed, at: int,
) -> None:  # fmt: skip
    sql = (
        "INSERT INTO sdk_sessions (id, content_session_id, memory_session_id, project,"
        " project_id, platform_source, started_at, started_at_epoch)"
        " VALUES (?1, ?2, ?2, ?3, ?4, 'claude-code', '', ?5)"
    )
    conn.execute(sql, (number, commit.name, ref.label, ref.id, at))
    memories.keep(conn, None, number, observed, at)


def places(bench: Bench, found: Sequence[Commit]) -> list[int | None]:
    """At which place of the answer each commit's first memory stands; None: not there."""
    kinds = (DocKind.OBSERVATION, DocKind.SUMMARY)
    result: list[int | None] = []
    for number, commit in enumerate(found, 1):
        query = Query(text=commit.subject, project=PROJECT, kinds=kinds, limit=TOP)
        sessions = [record.session_db_id for record in search(bench, query).records]
        result.append(sessions.index(number) + 1 if number in sessions else None)
    return result


def run(repository: Path, most: int, embedder: str) -> dict[str, Any]:
    """The measurement."""

    found = commits(repository, most)
    if not found:
        sys.exit(f"no commit in {repository} has a subject of {WORDS} words and a change")
    with tempfile.TemporaryDirectory() as folder:
        bench = opened(Path(folder), embedder)
        fill(bench, found, int(time.time() * 1000))
        caught_up(bench)
        at = places(bench, found)
        for backend in bench.indexer.backends.values():
            if hasattr(backend, "close"):
                backend.close()
        bench.store.close()
    return {
        "commits": len(found),
        "r10": round(statistics.fmean(one is not None for one in at), 4),
        "r1": round(statistics.fmean(one == 1 for one in at), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--commits", type=int, default=MOST, help="how many at most")
    parser.add_argument("--embedder", default="quick", help="quick, auto, or a name")
    args = parser.parse_args()
    found = run(args.repository, args.commits, args.embedder)
    if args.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:<10} {value}")


if __name__ == "__main__":
    main()
