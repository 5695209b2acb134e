"""Small answers: version, readiness, statistics, projects, instructions, the document."""

from __future__ import annotations

from typing import Any

from claude_mem_core import __version__
from claude_mem_core.errors import NotFound
from claude_mem_core.store import stats
from claude_mem_core.worker import instructions
from claude_mem_core.worker.spec import (
    OBJECT,
    Call,
    Endpoint,
    Reply,
    choice,
    host_filter,
    platform,
    record,
    text,
)


async def version(call: Call) -> dict[str, str]:
    """The version of the worker."""
    return {"version": __version__}


async def readiness(call: Call) -> object:
    """Whether events are taken; 503 while the worker starts or stops, or can't store."""
    if call.worker.stopping.is_set():
        return Reply({"status": "stopping"}, 503)
    if not call.worker.ready.is_set():
        return Reply({"status": "initializing"}, 503)
    fault = call.worker.notes.get("store")
    if fault is not None:
        return Reply({"status": "unavailable", "error": fault}, 503)
    return {"status": "ready", "mcpReady": True}


async def statistics(call: Call) -> dict[str, Any]:
    """How much there is, by project, and the state of worker and database."""
    found = await call.services.store.aread(stats.stats)
    worker = call.worker
    return {
        **found,
        "worker": {
            "version": worker.version, "uptime": worker.uptime_s, "port": worker.tcp.port,
            "activeSessions": found.get("active_sessions", 0), "sseClients": worker.streams,
        },
        "database": {**found.get("database", {}), "path": str(call.services.paths.database)},
    }


async def project_list(call: Call) -> dict[str, Any]:
    """Every project that has memories, and the hosts that they come from."""
    host = host_filter(call)
    return await call.services.store.aread(lambda conn: projects_of(conn, host))


def projects_of(conn: Any, host: str | None) -> dict[str, Any]:
    """Labels in the order of their newest memory, all of them and by host."""
    by_host = stats.projects(conn)
    chosen = by_host if host is None else {host: by_host.get(host, [])}
    every = list(dict.fromkeys(label for labels in chosen.values() for label in labels))
    return {"projects": every, "sources": list(by_host), "projectsBySource": by_host}


async def how_to(call: Call) -> dict[str, Any]:
    """A text that tells an agent how to search."""
    operation = call.params["operation"]
    body = instructions.of_operation(operation) if operation else None
    if operation and body is None:
        raise NotFound("there is no such operation")
    found = body or instructions.of_topic(call.params["topic"])
    return {"content": [{"type": "text", "text": found}]}


async def document(call: Call) -> dict[str, Any]:
    """This API as an OpenAPI document."""
    from claude_mem_core.worker.openapi import document as made

    return made()


async def sync_status(call: Call) -> dict[str, bool]:
    """Cloud sync is a plugin that is not there."""
    return {"configured": False}


ENDPOINTS = (
    Endpoint(
        "GET", "/api/version", version, "Version",
        answers={200: record({"version": {"type": "string"}}, "version")}, area="health",
    ),
    Endpoint(
        "GET", "/api/readiness", readiness, "Whether events are taken",
        answers={200: OBJECT, 503: OBJECT}, area="health",
    ),
    Endpoint("GET", "/api/stats", statistics, "How much there is"),
    Endpoint(
        "GET", "/api/projects", project_list, "Projects and hosts", params=(platform(),),
        answers={200: record({"projects": {"type": "array"}}, "projects")},
    ),
    Endpoint(
        "GET", "/api/instructions", how_to, "How to use the memory",
        params=(
            choice("topic", *instructions.TOPICS, default="all"),
            text("operation", longest=100),
        ),
        answers={200: record({"content": {"type": "array"}}, "content"), 404: OBJECT},
        area="search",
    ),
    Endpoint("GET", "/api/openapi.json", document, "This document", area="health"),
    Endpoint("GET", "/api/sync/status", sync_status, "Whether memories are synced", area="sync"),
)
