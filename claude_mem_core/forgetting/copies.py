"""The files beside the database that may hold what is to be forgotten.

Copies of the database are rewritten, or deleted where that can't be done. Records that
wait in the spool, copies of hosts' settings and damaged databases that were kept go when
they hold the text; of logs the lines that do. Files that are not ours are only named.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import apsw
import attrs

from claude_mem_core.errors import StoreError
from claude_mem_core.forgetting import files, rows, words
from claude_mem_core.paths import Paths
from claude_mem_core.store.erase import Chosen
from claude_mem_core.store.snapshot import snapshots

DAMAGED = (".damaged-", ".left")
REPLACED = ".before-restore"


@attrs.frozen
class Done:
    """What was done to one file: `rewritten`, `deleted`, or `lines` taken out."""

    path: str
    what: str


def clean(paths: Paths, chosen: Chosen, texts: Sequence[str]) -> list[Done]:
    """Take what is chosen, and what says one of `texts`, out of every file of ours."""
    wanted = words.needles(texts)
    done = [*_copies(paths, chosen, wanted)]
    if wanted:
        done += [*_whole(paths, wanted), *_logs(paths, wanted)]
    return done


def would(paths: Paths, chosen: Chosen, texts: Sequence[str]) -> list[Done]:
    """What `clean` would do; nothing is written."""
    wanted = words.needles(texts)
    found = [Done(_name(paths, p), "rewritten") for p in databases(paths) if _due(p, chosen, wanted)]
    if wanted:
        found += [Done(_name(paths, path), "deleted") for path in _holding(paths, wanted)]
        found += [
            Done(_name(paths, path), "lines")
            for path in files.regular(paths.logs) if _says(path, wanted)
        ]  # fmt: skip
    return found


# Copies of the database ---------------------------------------------------------------------


def databases(paths: Paths) -> Iterator[Path]:
    """Snapshots, and databases that a restore has replaced."""
    yield from snapshots(paths.snapshots)
    yield from sorted(paths.data.glob(f"{paths.database.name}.*{REPLACED}"))


def _copies(paths: Paths, chosen: Chosen, wanted: Sequence[bytes]) -> Iterator[Done]:
    for path in databases(paths):
        if not _due(path, chosen, wanted):
            continue
        try:
            rows.rewrite(path, chosen)
        except (apsw.Error, OSError, StoreError):
            path.unlink(missing_ok=True)
            yield Done(_name(paths, path), "deleted")
        else:
            yield Done(_name(paths, path), "rewritten")
    for partial in paths.snapshots.glob("*.part"):  # of one that was cut short
        partial.unlink(missing_ok=True)


def _due(path: Path, chosen: Chosen, wanted: Sequence[bytes]) -> bool:
    """Also when it can't be read: what is in it nobody knows."""
    try:
        return rows.touches(path, chosen) or bool(wanted and files.holds(path, wanted))
    except (apsw.Error, OSError, StoreError):
        return True


# Other files --------------------------------------------------------------------------------


def _whole(paths: Paths, wanted: Sequence[bytes]) -> Iterator[Done]:
    for path in _holding(paths, wanted):
        path.unlink(missing_ok=True)
        yield Done(_name(paths, path), "deleted")


def _holding(paths: Paths, wanted: Sequence[bytes]) -> Iterator[Path]:
    """Files of ours that are of no use to anybody without what they say."""
    for folder in (paths.spool, paths.backups):
        yield from (path for path in files.regular(folder) if _says(path, wanted))
    parts = words.halves(wanted)
    for path in sorted(paths.data.glob(f"{paths.database.name}*")):
        if any(mark in path.name for mark in DAMAGED) and _says(path, parts):
            yield path


def _logs(paths: Paths, wanted: Sequence[bytes]) -> Iterator[Done]:
    for path in files.regular(paths.logs):
        if _says(path, wanted):
            _without_lines(path, wanted)
            yield Done(_name(paths, path), "lines")


def _without_lines(path: Path, wanted: Sequence[bytes]) -> None:
    """In place: the worker goes on writing to this very file."""
    with path.open("r+b") as file:
        lines = file.readlines()
        kept = b"".join(line for line in lines if not words.is_in(line, wanted))
        file.seek(0)
        file.write(kept + b"\0" * (sum(map(len, lines)) - len(kept)))
        file.flush()
        os.fsync(file.fileno())
        file.truncate(len(kept))


def _says(path: Path, wanted: Sequence[bytes]) -> bool:
    try:
        return files.holds(path, wanted)
    except OSError:
        return False


def _name(paths: Paths, path: Path) -> str:
    return str(path.relative_to(paths.data))
