"""Memories of a file, by the names under which it may have been written down."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Iterator, Sequence

import apsw
import attrs

from claude_mem_core.recall.records import Key, Record, load
from claude_mem_core.store import fetch
from claude_mem_core.types import DocKind

_SQL = """
  SELECT kind, memory_id, max(modified), created_at_epoch FROM memory_files
  WHERE name = :name {limits}
  GROUP BY kind, memory_id ORDER BY created_at_epoch DESC, memory_id DESC LIMIT :most
"""
_IN_PROJECTS = "AND project_id IN (SELECT value FROM json_each(:projects))"
_SPELLED = "AND path IN (SELECT value FROM json_each(:paths))"


@attrs.frozen
class OfFile:
    """A memory of a file, and whether the file was modified in it."""

    key: Key
    modified: bool
    created_ms: int


def spellings(path: str, roots: Iterable[str] = ()) -> list[str]:
    """The ways a path may be stored: as given, and relative to each of `roots`."""
    plain = posixpath.normpath(path.replace("\\", "/")) if path else ""
    found = [path, plain]
    for root in roots:
        base = posixpath.normpath(root.replace("\\", "/")) if root else ""
        if not base or base == ".":
            continue
        if plain.startswith(base.rstrip("/") + "/"):
            found.append(plain[len(base.rstrip("/")) + 1 :])
        elif not plain.startswith("/"):
            found.append(posixpath.normpath(f"{base}/{plain}"))
    return [spelling for spelling in dict.fromkeys(found) if spelling and spelling != "."]


def of_file(
    conn: apsw.Connection, paths: Sequence[str], project_ids: Sequence[int] | None,
    limit: int, kinds: Sequence[DocKind] = (DocKind.OBSERVATION, DocKind.SUMMARY),
) -> list[OfFile]:  # fmt: skip
    """Memories of any of `paths` (spellings of one file or of several), newest first."""
    found: dict[Key, OfFile] = {}
    for name, spelled in _by_name(paths):
        # A bare name finds every file of that name.
        limits = "" if spelled == [name] else _SPELLED
        if project_ids is not None:
            limits += " " + _IN_PROJECTS
        values = {
            "name": name,
            "projects": json.dumps(list(project_ids or ())),
            "paths": json.dumps(spelled),
            "most": limit + 50,
        }
        rows = conn.execute(_SQL.format(limits=limits), values)
        for kind, number, modified, made in rows:
            key = DocKind(kind), number
            if key[0] in kinds:
                found.setdefault(key, OfFile(key, bool(modified), made))
    return sorted(found.values(), key=lambda of: (-of.created_ms, -of.key[1]))[:limit]


def _by_name(paths: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    names: dict[str, list[str]] = {}
    for path in paths:
        name = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
        if name:
            names.setdefault(name, []).append(path)
    yield from names.items()


def records_of_file(
    conn: apsw.Connection, paths: Sequence[str], project_ids: Sequence[int] | None, limit: int
) -> list[Record]:
    """The memories themselves, newest first."""
    return load(conn, [of.key for of in of_file(conn, paths, project_ids, limit)])


def roots(conn: apsw.Connection, project_ids: Sequence[int]) -> list[str]:
    """Directories that paths of these projects may be relative to."""
    keys = fetch.rows(
        conn,
        "SELECT key FROM projects WHERE id IN (SELECT value FROM json_each(?))",
        json.dumps(list(project_ids)),
    )
    return [posixpath.dirname(k) if k.endswith("/.git") else k for (k,) in keys]
