"""The proof: gives the freed room back, then looks for the text in every file.

Run as `python -m claude_mem_core.forgetting.proof`, a process of its own: it opens the
database as a file, and when a process closes such a handle it loses the locks that its
other connections hold. One JSON object on standard input, one on standard output.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw

from claude_mem_core.errors import MemError
from claude_mem_core.forgetting import files, words
from claude_mem_core.paths import Paths
from claude_mem_core.store import connect, fetch
from claude_mem_core.store.vacuum import vacuum

TABLES = """
  SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow')
    AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
"""
MERGE_S = 10.0  # to wait for somebody who still reads
OURS = {"settings.json": "take it out there", "claude-mem.db": "it belongs to claude-mem"}


def left(paths: Paths, texts: Sequence[str]) -> list[dict[str, str]]:
    """Where one of the texts still is: `place`, and what can be done about it."""
    wanted = words.needles(texts)
    found = [{"place": place, "cure": CURE[kind]} for place, kind in _in_tables(paths, wanted)]
    for path in files.regular(paths.data):
        try:
            if wanted and files.holds(path, wanted):
                found.append({"place": str(path), "cure": _cure(paths, path)})
        except OSError as error:
            cure = f"it can't be read ({error.strerror}); look into it yourself"
            found.append({"place": str(path), "cure": cure})
    return found


CURE = {
    "name": "it is part of a name: forget the project, `mem forget --project NAME`",
    "row": "run `mem forget` again; if it stays, please report this",
    "unreadable": "run `mem db repair`, then this again",
}
NAMES = {"projects", "project_labels", "project_names", "project_places"}


def _in_tables(paths: Paths, wanted: Sequence[bytes]) -> Iterator[tuple[str, str]]:
    """Tables of which a row holds it: its bytes may lie on two pages of the file."""
    if not paths.database.exists() or not wanted:
        return
    try:
        conn = connect.reader(paths.database)
        try:
            for (table,) in fetch.rows(conn, TABLES):
                for column in _columns(conn, table, wanted):
                    is_name = table in NAMES or column in {"project", "cwd", "root"}
                    yield f"{paths.database} {table}.{column}", "name" if is_name else "row"
        finally:
            conn.close(True)
    except (apsw.Error, MemError):
        yield str(paths.database), "unreadable"


def _columns(conn: apsw.Connection, table: str, wanted: Sequence[bytes]) -> Iterator[str]:
    names = [row[1] for row in fetch.rows(conn, f'PRAGMA table_info("{table}")')]
    for name in names:
        said = " OR ".join(f'instr(CAST("{name}" AS BLOB), ?)' for _ in wanted)
        if fetch.row(conn, f'SELECT 1 FROM "{table}" WHERE {said} LIMIT 1', *wanted):
            yield name


def _cure(paths: Paths, path: Path) -> str:
    name = path.relative_to(paths.data).parts[0]
    if name in {paths.database.name, f"{paths.database.name}-wal", paths.snapshots.name}:
        return CURE["row"]
    if name.startswith(paths.database.name):
        return f"a repair or a restore kept this copy: rm {path}"
    if name == paths.spool.name:
        return "it waits to be taken in: run `mem forget` again in a minute"
    return OURS.get(name, f"it is not ours to change: delete it, rm {path}")


def merged(paths: Paths) -> bool:
    """Empty the write-ahead log; False when somebody read in it all the time."""
    end = time.monotonic() + MERGE_S
    conn = connect.writer(paths.database)
    try:
        while fetch.value(conn, "PRAGMA wal_checkpoint(TRUNCATE)"):
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True
    finally:
        conn.close(True)


def job(asked: dict[str, Any]) -> dict[str, Any]:
    """Do what is asked: `vacuum`, and look for `texts`."""
    paths = Paths(Path(asked["data"]))
    answer: dict[str, Any] = {}
    if asked.get("vacuum") and paths.database.exists():
        os.environ["SQLITE_TMPDIR"] = str(paths.data)
        answer["before"], answer["after"] = vacuum(paths.database)
        answer["merged"] = merged(paths)
    if asked.get("texts"):
        answer["files"] = sum(1 for _ in files.regular(paths.data))
        answer["left"] = left(paths, asked["texts"])
    return answer


def main() -> None:
    """One job; its fault is an answer too."""
    os.umask(0o077)
    asked = json.loads(sys.stdin.buffer.read())
    try:
        answer = job(asked)
    except (MemError, apsw.Error, OSError) as error:
        answer = {"error": str(error)}
    with open(1, "wb", closefd=False) as answers:
        answers.write(json.dumps(answer).encode())


if __name__ == "__main__":
    main()
