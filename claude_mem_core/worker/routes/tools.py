"""The raw index of tool uses, and advisor calls."""

from __future__ import annotations

import json
import re
from typing import Any

import apsw

from claude_mem_core.worker.routes.data import project_ids
from claude_mem_core.worker.spec import Call, Endpoint, limit, project, record, words

MOST = 100
_NUMBER = re.compile("[0-9]{1,18}")
COLUMNS = (
    "id", "tool_use_id", "content_session_id", "memory_session_id", "session_db_id", "project",
    "platform_source", "tool_name", "tool_input", "tool_response", "cwd", "prompt_number",
    "agent_type", "agent_id", "observation_id", "content_hash", "created_at",
    "created_at_epoch",
)  # fmt: skip
BY_ID = f"""
  SELECT {", ".join(COLUMNS)} FROM tool_uses
  WHERE (id IN (SELECT value FROM json_each(?1))
    OR tool_use_id IN (SELECT value FROM json_each(?2)))
    AND (?3 IS NULL OR project_id IN (SELECT value FROM json_each(?3)))
  ORDER BY id
"""
NEWEST = f"""
  SELECT {", ".join(COLUMNS)} FROM tool_uses
  WHERE ?1 IS NULL OR project_id IN (SELECT value FROM json_each(?1))
  ORDER BY id DESC LIMIT ?2
"""
ADVISOR = (
    "id", "session_db_id", "tool_use_id", "model", "prompt", "advice", "created_at_epoch"
)  # fmt: skip


async def tool_uses(call: Call) -> dict[str, Any]:
    """Tool uses by their ids (the host's, or row numbers); the newest without ids."""
    ids: tuple[str, ...] = call.params["ids"]
    most = min(call.params["limit"], MOST)

    def read(conn: apsw.Connection) -> list[Any]:
        among = project_ids(conn, call.params["project"])
        scope = None if among is None else json.dumps(among)
        if not ids:
            return conn.execute(NEWEST, (scope, most)).fetchall()
        numbers = [int(given) for given in ids if _NUMBER.fullmatch(given)]
        return conn.execute(BY_ID, (json.dumps(numbers), json.dumps(ids), scope)).fetchall()

    rows = [dict(zip(COLUMNS, row, strict=True)) for row in await call.services.store.aread(read)]
    known = {str(row[key]) for row in rows for key in ("id", "tool_use_id")}
    missing = [given for given in ids if given not in known]
    return {"toolUses": rows, "count": len(rows), "notFound": missing}


async def advisor_calls(call: Call) -> dict[str, Any]:
    """Advisor calls, newest first; kept only when the setting says so."""
    sql = f"SELECT {', '.join(ADVISOR)} FROM advisor_calls ORDER BY id DESC LIMIT ?"
    most = min(call.params["limit"], MOST)
    found = await call.services.store.aread(lambda conn: conn.execute(sql, (most,)).fetchall())
    rows = [dict(zip(ADVISOR, row, strict=True)) for row in found]
    return {"advisorCalls": rows, "count": len(rows)}


ENDPOINTS = (
    Endpoint(
        "GET", "/api/tool-uses", tool_uses, "Tool uses as they were recorded",
        params=(words("ids", help="ids with commas"), project(), limit()),
        answers={200: record({"toolUses": {"type": "array"}}, "toolUses")},
    ),
    Endpoint(
        "GET", "/api/advisor-calls", advisor_calls, "Recorded advisor calls",
        params=(limit(),),
        answers={200: record({"advisorCalls": {"type": "array"}}, "advisorCalls")},
    ),
)
