"""A store with rows for tests of recall, without the pipeline."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw

from claude_mem_core.recall.keyword import KeywordIndex
from claude_mem_core.store import Store

CASES = Path(__file__).parent / "cases"
NOW_MS = 1_782_900_000_000  # 2026-07-01
DAY_MS = 86_400_000


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def at_ms(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def iso(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat()


class Filled:
    """A store and its index; `observe`, `summarize` and `prompt` add rows and index them."""

    def __init__(self, folder: Path) -> None:
        self.store = Store.open(folder / "memory.db")
        self.index = KeywordIndex(self.store)

    def close(self) -> None:
        self.store.close()

    def feed(self) -> None:
        while self.index.feed(500):
            pass

    def observe(self, rows: Iterable[Mapping[str, Any]]) -> list[int]:
        def write(conn: apsw.Connection) -> list[int]:
            return [_observation(conn, row) for row in rows]

        ids = self.store.write(write).result(60)
        self.feed()
        return ids

    def summarize(self, **row: Any) -> int:
        made = self.store.write(lambda conn: _summary(conn, row)).result(60)
        self.feed()
        return made

    def prompt(self, text: str, **row: Any) -> int:
        made = self.store.write(lambda conn: _prompt(conn, {**row, "text": text})).result(60)
        self.feed()
        return made

    def execute(self, sql: str, *values: Any) -> None:
        self.store.write(lambda conn: conn.execute(sql, values).fetchall()).result(60)
        self.feed()

    def value(self, sql: str, *values: Any) -> Any:
        return self.store.read(lambda conn: next(conn.execute(sql, values))[0])


def _project(conn: apsw.Connection, label: str) -> int:
    conn.execute(
        "INSERT OR IGNORE INTO projects (key, label, kind, created_at_epoch)"
        " VALUES ('/' || ?1, ?1, 'folder', 0)",
        (label,),
    )
    return int(next(conn.execute("SELECT id FROM projects WHERE label = ?", (label,)))[0])


def _session(conn: apsw.Connection, row: Mapping[str, Any]) -> tuple[int, str, int, str, int]:
    label = row.get("project", "shop")
    project_id = _project(conn, label)
    host, name = row.get("host", "claude-code"), row.get("session", f"session-{label}")
    made = row.get("created_ms", NOW_MS)
    conn.execute(
        "INSERT OR IGNORE INTO sdk_sessions (content_session_id, memory_session_id, project,"
        " project_id, platform_source, started_at, started_at_epoch)"
        " VALUES (?1, ?1 || ?2, ?3, ?4, ?2, ?5, ?6)",
        (name, host, label, project_id, iso(made), made),
    )
    sql = "SELECT id FROM sdk_sessions WHERE content_session_id = ? AND platform_source = ?"
    return project_id, name + host, int(next(conn.execute(sql, (name, host)))[0]), host, made


def _observation(conn: apsw.Connection, row: Mapping[str, Any]) -> int:
    if "created_at" in row:
        row = {**row, "created_ms": at_ms(row["created_at"])}
    project_id, memory_id, session_id, host, made = _session(conn, row)
    lists = ("facts", "concepts", "files_read", "files_modified")
    conn.execute(
        "INSERT INTO observations (memory_session_id, project, type, title, subtitle,"
        " narrative, facts, concepts, files_read, files_modified, prompt_number,"
        " discovery_tokens, created_at, created_at_epoch, agent_id, agent_type, project_id,"
        " session_db_id, platform_source, trust, superseded_by)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            memory_id,
            row.get("project", "shop"),
            row.get("type", "discovery"),
            row.get("title", ""),
            row.get("subtitle"),
            row.get("narrative"),
            *(json.dumps(row.get(name, [])) for name in lists),
            row.get("prompt_number"),
            row.get("tokens", 0),
            iso(made),
            made,
            row.get("agent_id"),
            row.get("agent_type"),
            project_id,
            session_id,
            host,
            row.get("trust", "work"),
            row.get("superseded_by"),
        ),
    )
    number = conn.last_insert_rowid()
    for modified, name in ((0, "files_read"), (1, "files_modified")):
        for path in row.get(name, []):
            conn.execute(
                "INSERT OR IGNORE INTO memory_files VALUES (?, 'observation', ?, ?, ?, ?, ?)",
                (path, number, project_id, modified, made, path.rpartition("/")[2]),
            )
    return number


def _summary(conn: apsw.Connection, row: Mapping[str, Any]) -> int:
    project_id, memory_id, session_id, host, made = _session(conn, row)
    names = ("request", "investigated", "learned", "completed", "next_steps", "notes")
    conn.execute(
        "INSERT INTO session_summaries (memory_session_id, project, request, investigated,"
        " learned, completed, next_steps, notes, prompt_number, created_at, created_at_epoch,"
        " project_id, session_db_id, platform_source)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            memory_id,
            row.get("project", "shop"),
            *(row.get(name) for name in names),
            row.get("prompt_number"),
            iso(made),
            made,
            project_id,
            session_id,
            host,
        ),
    )
    return conn.last_insert_rowid()


def _prompt(conn: apsw.Connection, row: Mapping[str, Any]) -> int:
    project_id, _, session_id, host, made = _session(conn, row)
    sql = "SELECT count(*) + 1 FROM user_prompts WHERE session_db_id = ?"
    number = row.get("number") or next(conn.execute(sql, (session_id,)))[0]
    conn.execute(
        "INSERT INTO user_prompts (session_db_id, content_session_id, prompt_number,"
        " prompt_text, created_at, created_at_epoch, project, project_id, platform_source)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session_id,
            row.get("session", "s"),
            number,
            row["text"],
            iso(made),
            made,
            row.get("project", "shop"),
            project_id,
            host,
        ),
    )
    return conn.last_insert_rowid()
