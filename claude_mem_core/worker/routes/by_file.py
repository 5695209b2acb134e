"""Memories of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from claude_mem_core.recall import by_file, listing
from claude_mem_core.recall.records import Record, kind_of, load
from claude_mem_core.store import projects
from claude_mem_core.types import DocKind
from claude_mem_core.worker.routes.rows import worded
from claude_mem_core.worker.spec import (
    Call,
    Endpoint,
    Refused,
    choice,
    host_filter,
    limit,
    one_of,
    platform,
    project,
    record,
    text,
    texts,
    words,
)

MOST = 100
KINDS = {"observations": DocKind.OBSERVATION, "sessions": DocKind.SUMMARY}


def content(*lines: str, **more: Any) -> dict[str, Any]:
    """A text in the form that agents' tools expect."""
    return {"content": [{"type": "text", "text": "\n".join(lines)}], **more}


def project_ids(conn: apsw.Connection, name: str | None) -> list[int] | None:
    """What a project filter means: None for all, empty for an unknown one."""
    return None if not name else projects.find(conn, name)


async def files(call: Call) -> object:
    """Observations and summaries of a file, newest first."""
    paths = [call.params["filePath"]] if call.params["filePath"] else call.params["files"]
    if not paths:
        raise Refused(400, "give filePath or files")
    most, style = min(call.params["limit"], MOST), call.params["format"]
    records, rows = await call.services.store.aread(
        lambda conn: _of_file(conn, paths, project_ids(conn, call.params["project"]), most)
    )
    if style == "json":
        return {
            name: [
                r for one, r in zip(records, rows, strict=True) if kind_of(one) is KINDS[name]
            ]
            for name in KINDS
        }
    if not records:
        return content(listing.nothing_found(", ".join(paths)))
    return content(listing.found_line(", ".join(paths), records), *listing.by_day(records))


async def observations_of_file(call: Call) -> object:
    """Observations of a file, newest first, under any of its spellings."""
    paths, most = list(call.params["path"]), min(call.params["limit"], MOST)
    host = host_filter(call)

    def read(conn: apsw.Connection) -> dict[str, Any]:
        names = call.params["projects"]
        ids = [i for name in names for i in projects.find(conn, name)] if names else None
        found = by_file.of_file(conn, paths, ids, most, (DocKind.OBSERVATION,))
        records = [r for r in load(conn, [of.key for of in found]) if _from(r, host)]
        return {"observations": worded(conn, records), "count": len(records)}

    return await call.services.store.aread(read)


def _from(one: Record, host: str | None) -> bool:
    return host is None or one.host == host


def _of_file(
    conn: apsw.Connection, paths: Sequence[str], ids: Sequence[int] | None, most: int
) -> tuple[list[Record], list[dict[str, Any]]]:
    spelled = [s for path in paths for s in by_file.spellings(path, _roots(conn, ids))]
    records = by_file.records_of_file(conn, spelled, ids, most)
    return records, worded(conn, records)


def _roots(conn: apsw.Connection, ids: Sequence[int] | None) -> list[str]:
    return [] if ids is None else by_file.roots(conn, ids)


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/search/by-file",
        files,
        "Memories of a file",
        params=(
            *one_of(text("filePath", longest=4096), words("files")),
            project(),
            choice("format", "index", "json", default="index"),
            limit(),
        ),
        area="search",
    ),
    Endpoint(
        "GET",
        "/api/observations/by-file",
        observations_of_file,
        "Observations of a file",
        params=(texts("path", required=True), words("projects"), limit(40), platform()),
        answers={200: record({"observations": {"type": "array"}}, "observations")},
    ),
)
