"""`mem ingest` beside the worker, or without: what it finds is kept by this process."""

from __future__ import annotations

from contextlib import closing

from claude_mem_core.cli.importing import importing
from claude_mem_core.extensions import registry_of
from claude_mem_core.paths import Paths
from claude_mem_core.store import imports
from claude_mem_core.store.imports.records import Kind
from claude_mem_core.transcripts.notes import Ingested, gathered
from claude_mem_core.types import Host


def ingested(
    paths: Paths, *, source: str, every: bool, here: str, require_cwd: bool, dry: bool
) -> Ingested:
    """Take the notes in; with `dry` only look.

    Raises:
        InvalidInput: the named folder is refused; nothing was written.
        MemError: recording is stopped; nothing was written.
    """
    settings, registry = registry_of(paths)
    found = gathered(
        list(registry.records("mem_hosts", Host)), settings.current(),
        source=source, every=every, here=here, require_cwd=require_cwd,
    )  # fmt: skip
    done = found.done
    if dry or not found.parts:
        return done
    with importing(paths) as work:
        for rows, places in found.parts:
            with closing(imports.read_json({"observations": rows}, work.cleaner)) as staged:
                count = work.keep(staged, "notes", places).of(Kind.OBSERVATION)
            done.stored += count.imported
            done.known += count.skipped
    return done
