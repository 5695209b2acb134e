"""Notes that a host keeps by itself become memories."""

from __future__ import annotations

import asyncio
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from claude_mem_core.clean.cleaner import CleaningFailed
from claude_mem_core.errors import InvalidInput
from claude_mem_core.pipeline.clock import now_ms
from claude_mem_core.types import Host
from claude_mem_core.worker.spec import (
    ERROR,
    Call,
    Endpoint,
    Refused,
    Right,
    array,
    record,
)

if TYPE_CHECKING:
    from claude_mem_core.clean.cleaner import Cleaner
    from claude_mem_core.pipeline.services import Services
    from claude_mem_core.transcripts.notes import Gathered, Ingested

WHICH = "give `source`, a folder of notes, or `all`: true, not both"


async def ingest(call: Call) -> dict[str, Any]:
    """Take in one folder of notes, or all; each note once, with no model asked."""
    source, every = call.body.get("source") or "", bool(call.body.get("all"))
    if bool(source) == every:
        raise Refused(400, WHICH)
    services = call.services
    fault = services.registry.recording_fault()
    if fault is not None:
        raise Refused(503, f"nothing is taken in while recording is stopped: {fault}")
    try:
        found = await _found(services, source, every, bool(call.body.get("requireCwd")))
    except InvalidInput as error:
        raise Refused(400, str(error)) from None
    await _kept(services, found)
    return _worded(found.done)


async def _found(services: Services, source: str, every: bool, require_cwd: bool) -> Gathered:
    from claude_mem_core.transcripts.notes import gathered

    hosts = list(services.registry.records("mem_hosts", Host))
    read = partial(
        gathered, hosts, services.settings.current(),
        source=source, every=every, require_cwd=require_cwd,
    )  # fmt: skip
    return await asyncio.to_thread(read)


async def _kept(services: Services, found: Gathered) -> None:
    cleaner = services.cleaners.current(services.settings.current())
    try:
        for part in found.parts:
            await _part_kept(services, cleaner, found.done, *part)
    except CleaningFailed as error:
        raise Refused(503, str(error)) from None
    finally:
        services.indexer.wake()


async def _part_kept(
    services: Services, cleaner: Cleaner, done: Ingested, rows: list[Any], places: dict[str, Any]
) -> None:
    """Keep the notes of one folder, in one transaction."""
    from claude_mem_core.store import imports
    from claude_mem_core.store.imports.records import Kind

    read = partial(imports.read_json, {"observations": rows}, cleaner)
    with closing(await asyncio.to_thread(read)) as staged:
        counts = await services.store.awrite(
            lambda conn: imports.keep(conn, staged, now_ms(), "notes", places)
        )
    count = counts.of(Kind.OBSERVATION)
    done.stored += count.imported
    done.known += count.skipped


def _worded(done: Ingested) -> dict[str, Any]:
    def named(pairs: list[tuple[str, str]]) -> list[dict[str, str]]:
        return [{"file": file, "reason": reason} for file, reason in pairs]

    return {
        "stored": done.stored, "alreadyImported": done.known, "files": done.files,
        "dirs": done.folders, "skipped": named(done.skipped), "failed": named(done.failed),
    }  # fmt: skip


NUMBER = {"type": "integer", "minimum": 0}
LEFT_OUT = array(record({"file": {"type": "string"}, "reason": {"type": "string"}}, "file", "reason"))
ANSWER = record(
    {
        "stored": NUMBER, "alreadyImported": NUMBER, "files": NUMBER, "dirs": NUMBER,
        "skipped": LEFT_OUT, "failed": LEFT_OUT,
    },
    "stored", "alreadyImported", "files", "dirs", "skipped", "failed",
)  # fmt: skip
ENDPOINTS = (
    Endpoint(
        "POST", "/api/memory/ingest", ingest, "Take in the notes that hosts keep by themselves",
        body=record(
            {
                "source": {"type": ["string", "null"], "maxLength": 4096},
                "all": {"type": ["boolean", "null"]},
                "requireCwd": {"type": ["boolean", "null"]},
            },
            strict=True,
        ),
        answers={200: ANSWER, 400: ERROR, 503: ERROR}, right=Right.FULL, area="memory",
    ),
)  # fmt: skip
