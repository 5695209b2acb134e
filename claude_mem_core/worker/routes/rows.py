"""Records as the API gives them: documented names, lists as JSON text, as documented."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import apsw

from claude_mem_core.store import fetch
from claude_mem_core.types import Observation, Prompt, Summary

IDS = """
  SELECT id, memory_session_id, content_session_id FROM sdk_sessions
  WHERE id IN (SELECT value FROM json_each(?))
"""
Ids = Mapping[int, tuple[str | None, str]]


def session_ids(conn: apsw.Connection, records: Iterable[Any]) -> Ids:
    """The two session ids of every session that the records belong to."""
    wanted = sorted({record.session_db_id for record in records})
    found = fetch.rows(conn, IDS, json.dumps(wanted))
    return {number: (memory, content) for number, memory, content in found}


def iso(at_ms: int) -> str:
    """A time as the documented ISO text; the epoch for what no calendar holds."""
    try:
        moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        moment = datetime.fromtimestamp(0, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _list(values: Sequence[str]) -> str:
    return json.dumps(values, ensure_ascii=False) if values else "[]"


def _common(record: Observation | Summary | Prompt, ids: Ids) -> dict[str, Any]:
    memory, content = ids.get(record.session_db_id, (None, ""))
    return {
        "id": record.id,
        "project": record.project,
        "project_id": record.project_id,
        "session_db_id": record.session_db_id,
        "memory_session_id": memory,
        "sdk_session_id": memory,
        "content_session_id": content,
        "platform_source": record.host,
        "created_at": iso(record.created_ms),
        "created_at_epoch": record.created_ms,
    }


def observation(record: Observation, ids: Ids) -> dict[str, Any]:
    """An observation."""
    return {
        **_common(record, ids),
        "type": record.type,
        "title": record.title,
        "subtitle": record.subtitle,
        "narrative": record.narrative,
        "text": None,
        "facts": _list(record.facts),
        "concepts": _list(record.concepts),
        "files_read": _list(record.files_read),
        "files_modified": _list(record.files_modified),
        "prompt_number": record.prompt_number,
        "discovery_tokens": record.tokens,
        "generated_by_model": record.model,
        "agent_id": record.agent_id,
        "agent_type": record.agent_type,
        "trust": record.trust.value,
        "superseded_by": record.superseded_by,
        "verify": record.verify or None,
        "metadata": json.dumps(dict(record.metadata)) if record.metadata else None,
    }


def summary(record: Summary, ids: Ids) -> dict[str, Any]:
    """A summary."""
    return {
        **_common(record, ids),
        "session_id": ids.get(record.session_db_id, (None, ""))[1],
        "request": record.request,
        "investigated": record.investigated,
        "learned": record.learned,
        "completed": record.completed,
        "next_steps": record.next_steps,
        "notes": record.notes,
        "files_read": _list(record.files_read),
        "files_edited": _list(record.files_edited),
        "prompt_number": record.prompt_number,
        "discovery_tokens": record.tokens,
        "generated_by_model": record.model,
        "trust": record.trust.value,
    }


def prompt(record: Prompt, ids: Ids) -> dict[str, Any]:
    """A prompt."""
    content = ids.get(record.session_db_id, (None, ""))[1]
    return {
        **_common(record, ids),
        "session_id": content,
        "claude_session_id": content,
        "prompt": record.text,
        "prompt_text": record.text,
        "prompt_number": record.number,
    }


def any_row(record: Observation | Summary | Prompt, ids: Ids) -> dict[str, Any]:
    """A record of any kind."""
    if isinstance(record, Observation):
        return observation(record, ids)
    return summary(record, ids) if isinstance(record, Summary) else prompt(record, ids)


def worded(conn: apsw.Connection, records: Sequence[Any]) -> list[dict[str, Any]]:
    """Records with what their sessions add."""
    ids = session_ids(conn, records)
    return [any_row(record, ids) for record in records]
