"""Memories as the documented export holds them: read only, row by row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

import apsw
import attrs

from claude_mem_core.errors import InvalidInput
from claude_mem_core.store import fetch
from claude_mem_core.store.own import owned

FORMAT = "claude-mem-core/2"
KNOWN = ("claude-mem-core/1", FORMAT)  # the first one did not hold what people said
KINDS = ("sessions", "observations", "summaries", "prompts")

COLUMNS: Mapping[str, Sequence[str]] = {
    "sessions": (
        "id", "content_session_id", "memory_session_id", "project", "platform_source",
        "user_prompt", "started_at", "started_at_epoch", "completed_at", "completed_at_epoch",
        "status", "prompt_counter", "custom_title",
    ),
    "observations": (
        "id", "memory_session_id", "project", "platform_source", "text", "type", "title",
        "subtitle", "facts", "narrative", "concepts", "files_read", "files_modified",
        "prompt_number", "discovery_tokens", "created_at", "created_at_epoch",
        "generated_by_model", "relevance_count", "agent_type", "agent_id", "metadata",
        "occurrence_count",
    ),
    "summaries": (
        "id", "memory_session_id", "project", "platform_source", "request", "investigated",
        "learned", "completed", "next_steps", "notes", "files_read", "files_edited",
        "prompt_number", "discovery_tokens", "created_at", "created_at_epoch",
        "generated_by_model",
    ),
    "prompts": (
        "id", "content_session_id", "project", "platform_source", "prompt_number",
        "prompt_text", "created_at", "created_at_epoch",
    ),
}  # fmt: skip
TABLES = {
    "sessions": "sdk_sessions", "observations": "observations",
    "summaries": "session_summaries", "prompts": "user_prompts",
}  # fmt: skip
OWN = {"sessions": "id", "observations": "session_db_id", "summaries": "session_db_id",
       "prompts": "session_db_id"}  # fmt: skip
# What was replaced or is marked wrong is not passed on.
HOLDS = {"observations", "summaries"}
TIME = {"sessions": "started_at_epoch"}


@attrs.frozen(kw_only=True)
class Wanted:
    """Which memories to export; empty means all.

    Attributes:
        projects: numbers of projects.
        types: types of observations; then no other kind is chosen by itself.
        since_ms, until_ms: bounds on the creation time, inclusive.
        ids: the rows of each kind that a search has found; None without a search.
    """

    projects: Sequence[int] = ()
    types: Sequence[str] = ()
    since_ms: int | None = None
    until_ms: int | None = None
    ids: Mapping[str, Sequence[int]] | None = None


def write(
    conn: apsw.Connection, wanted: Wanted, query: str, at_ms: int, file: IO[bytes]
) -> dict[str, int]:
    """Write the export to `file`; how many rows of each kind it holds."""
    sessions = _sessions(conn, wanted)
    counts = {kind: _count(conn, kind, wanted, sessions) for kind in KINDS}
    digest = hashlib.sha256()
    file.write(_head(query, at_ms, counts))
    for kind in KINDS:
        file.write(f',\n"{kind}": ['.encode())
        first = True
        for row in _rows(conn, kind, wanted, sessions):
            line = canonical(row)
            digest.update(line + b"\n")
            file.write((b"\n" if first else b",\n") + line)
            first = False
        file.write(b"]")
    own = canonical(_own(conn, wanted, sessions))
    digest.update(own + b"\n")
    file.write(b',\n"own": ' + own)
    file.write(f',\n"sha256": "{digest.hexdigest()}"}}\n'.encode())
    return counts


def verify(value: Mapping[str, Any]) -> None:
    """Compare an export with its own digest; one that has none is not looked at.

    Raises:
        InvalidInput: rows were changed, added or lost since it was written.
    """
    if not isinstance(value.get("format"), str) or "sha256" not in value:
        return
    if value["format"] not in KNOWN:
        raise InvalidInput(
            f"its form is {value['format'][:40]!r}, known here are {', '.join(KNOWN)}:"
            " run `mem update`"
        )
    digest = hashlib.sha256()
    for kind in KINDS:
        for row in value.get(kind) or ():
            digest.update(canonical(row) + b"\n")
    if value["format"] == FORMAT or "own" in value:
        digest.update(canonical(value.get("own")) + b"\n")
    if digest.hexdigest() != value["sha256"]:
        raise InvalidInput(
            "it was changed or cut since it was exported; if you changed it yourself, add"
            " `--edited`"
        )


def canonical(row: Any) -> bytes:
    """The one spelling of a row that the digest is made of."""
    return json.dumps(row, sort_keys=True, separators=(",", ":")).encode()


def _own(
    conn: apsw.Connection, wanted: Wanted, sessions: Sequence[int] | None
) -> dict[str, list[Any]]:
    """What was said of the rows that are written, and of their projects."""
    numbers = {}
    for kind in ("observations", "summaries"):
        where, values = _where(kind, wanted, sessions)
        sql = f"SELECT id FROM {TABLES[kind]} WHERE {where} ORDER BY id"
        numbers[kind] = [number for (number,) in conn.execute(sql, values)]
    chosen = None if wanted == Wanted() else wanted.projects
    return owned(conn, numbers["observations"], numbers["summaries"], chosen)


def _head(query: str, at_ms: int, counts: Mapping[str, int]) -> bytes:
    from claude_mem_core.store.text import iso

    head: dict[str, Any] = {
        "format": FORMAT,
        "exportedAt": iso(at_ms),
        "exportedAtEpoch": at_ms,
        "query": query,
    }
    head |= {f"total{kind.capitalize()}": counts[kind] for kind in KINDS}
    return json.dumps(head).removesuffix("}").encode()


def _where(kind: str, wanted: Wanted, sessions: Sequence[int] | None) -> tuple[str, list[Any]]:
    """The condition of a kind, and its values."""
    parts: list[str] = ["1"]
    values: list[Any] = []
    if kind in HOLDS:
        parts.append("superseded_by IS NULL")
    if sessions is not None and kind in {"sessions", "prompts"}:
        parts.append(f"{OWN[kind]} IN (SELECT value FROM json_each(?))")
        return " AND ".join(parts), [*values, json.dumps(list(sessions))]
    if wanted.ids is not None:
        parts.append("id IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(list(wanted.ids.get(kind, ()))))
    if wanted.projects:
        parts.append("project_id IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(list(wanted.projects)))
    if wanted.types and kind == "observations":
        parts.append("type IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(list(wanted.types)))
    elif wanted.types:
        parts.append("0")
    return " AND ".join([*parts, *_time(kind, wanted, values)]), values


def _time(kind: str, wanted: Wanted, values: list[Any]) -> Iterator[str]:
    column = TIME.get(kind, "created_at_epoch")
    for sign, bound in ((">=", wanted.since_ms), ("<=", wanted.until_ms)):
        if bound is not None:
            values.append(bound)
            yield f"{column} {sign} ?"


def _sessions(conn: apsw.Connection, wanted: Wanted) -> list[int] | None:
    """The sessions of what was chosen; None when nothing limits the choice."""
    if wanted == Wanted():
        return None
    found: set[int] = set()
    for kind in KINDS[1:]:
        where, values = _where(kind, wanted, None)
        sql = f"SELECT DISTINCT session_db_id FROM {TABLES[kind]} WHERE {where}"
        found.update(number for (number,) in conn.execute(sql, values) if number)
    return sorted(found)


def _count(
    conn: apsw.Connection, kind: str, wanted: Wanted, sessions: Sequence[int] | None
) -> int:
    where, values = _where(kind, wanted, sessions)
    sql = f"SELECT count(*) FROM {TABLES[kind]} WHERE {where}"
    return int(fetch.value(conn, sql, *values))


def _rows(
    conn: apsw.Connection, kind: str, wanted: Wanted, sessions: Sequence[int] | None
) -> Iterable[dict[str, Any]]:
    where, values = _where(kind, wanted, sessions)
    names = COLUMNS[kind]
    sql = f"SELECT {', '.join(names)} FROM {TABLES[kind]} WHERE {where} ORDER BY id"
    for row in conn.execute(sql, values):
        yield {name: value for name, value in zip(names, row, strict=True) if value is not None}
